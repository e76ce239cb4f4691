//! The encoder thread: embeds a query while lexical retrieval runs.
//!
//! [`EncoderThread`] is kept between queries. A newly spawned thread starts on its creator's core
//! and waits until that core is idle: 3 ms, against 0.05 ms to wake an existing thread.

use std::io;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

use super::encoder::TextEncoder;

/// A thread that embeds queries. It exits when the handle is dropped.
#[derive(Debug)]
pub struct EncoderThread(Sender<EncodeRequest>);

/// One query to embed, and the channel for its vector.
#[derive(Debug)]
struct EncodeRequest {
    text: String,
    reply: SyncSender<Vec<f32>>,
}

/// A query vector that is being computed.
#[derive(Debug)]
pub struct PendingVector {
    text: String,
    reply: Option<Receiver<Vec<f32>>>,
}

impl EncoderThread {
    /// Spawns the thread.
    pub fn new(encoder: &'static dyn TextEncoder) -> io::Result<Self> {
        let (ask, asked) = channel::<EncodeRequest>();
        std::thread::Builder::new().name("question".into()).spawn(move || {
            for EncodeRequest { text, reply: answer } in asked {
                // The requester may have given up.
                let _ = answer.send(encoder.embed_query(&text));
            }
        })?;
        Ok(Self(ask))
    }
}

impl PendingVector {
    /// Starts encoding on the thread, if there is one.
    pub fn start(text: String, aside: Option<&EncoderThread>) -> Self {
        let reply = aside.and_then(|EncoderThread(ask)| {
            let (answer, comes) = sync_channel(1);
            let text = text.clone();
            ask.send(EncodeRequest { text, reply: answer }).ok().map(|()| comes)
        });
        Self { text, reply }
    }

    /// Waits for the vector; encodes on this thread if there is no encoder thread or it has died.
    pub fn wait(self, encoder: &dyn TextEncoder) -> Vec<f32> {
        let answer = self.reply.and_then(|comes| comes.recv().ok());
        answer.unwrap_or_else(|| encoder.embed_query(&self.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::BagOfWordsEncoder;

    /// An encoder that panics on every query.
    struct PanickingEncoder;

    impl TextEncoder for PanickingEncoder {
        fn id(&self) -> &'static str {
            "broken"
        }
        fn width(&self) -> usize {
            1
        }
        fn embed_query(&self, _: &str) -> Vec<f32> {
            panic!("panics on purpose")
        }
        fn embed_documents(&self, _: &[&str]) -> Vec<Vec<f32>> {
            Vec::new()
        }
    }

    #[test]
    fn query_is_encoded_even_if_the_thread_has_died() {
        let want = BagOfWordsEncoder.embed_query("the harbour");
        let pending = |aside| PendingVector::start("the harbour".to_owned(), aside).wait(&BagOfWordsEncoder);
        let aside = EncoderThread::new(&BagOfWordsEncoder).unwrap();
        assert_eq!(pending(Some(&aside)), want);
        assert_eq!(pending(Some(&aside)), want, "a second time");
        assert_eq!(pending(None), want);
        let dead = EncoderThread::new(&PanickingEncoder).unwrap();
        assert_eq!(pending(Some(&dead)), want);
        assert_eq!(pending(Some(&dead)), want, "the thread has died");
    }
}
