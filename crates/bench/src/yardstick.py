"""Encodes JSON strings from stdin with ONNX Runtime on one thread; prints the CPU seconds it took.

Texts of similar length share a batch, so that little is padded.
"""

import json
import sys
import time

import numpy
import onnxruntime
from tokenizers import Tokenizer

BATCH = 16

model, vocabulary, tokens_max = sys.argv[1:4]
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
options.inter_op_num_threads = 1
session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
tokenizer = Tokenizer.from_file(vocabulary)
tokenizer.no_padding()
tokenizer.enable_truncation(int(tokens_max))
texts = [json.loads(line) for line in sys.stdin]

start = time.process_time()
encoded = sorted((tokenizer.encode(text).ids for text in texts), key=len)
for at in range(0, len(encoded), BATCH):
    batch = encoded[at : at + BATCH]
    width = max(len(ids) for ids in batch)
    ids = numpy.zeros((len(batch), width), dtype=numpy.int64)
    mask = numpy.zeros((len(batch), width), dtype=numpy.int64)
    for row, tokens in enumerate(batch):
        ids[row, : len(tokens)] = tokens
        mask[row, : len(tokens)] = 1
    session.run(None, {"input_ids": ids, "attention_mask": mask})
print(time.process_time() - start)
