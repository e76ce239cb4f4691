//! A thread that turns questions into vectors while words are looked up.
//!
//! It is kept from question to question. A new thread would begin on the core of whoever made it,
//! and wait there until that one has nothing to do: 3 ms where one that is woken begins after 0.05.

use std::io;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

use super::encoder::Encoder;

/// Ends with the last of its owners.
#[derive(Debug)]
pub struct Aside(Sender<Question>);

#[derive(Debug)]
struct Question {
    text: String,
    answer: SyncSender<Vec<f32>>,
}

/// The vector of a question, once it is there.
#[derive(Debug)]
pub struct Pending {
    text: String,
    answer: Option<Receiver<Vec<f32>>>,
}

impl Aside {
    pub fn new(encoder: &'static dyn Encoder) -> io::Result<Self> {
        let (ask, asked) = channel::<Question>();
        std::thread::Builder::new()
            .name("question".into())
            .spawn(move || {
                for Question { text, answer } in asked {
                    // Whoever asked may have failed meanwhile.
                    let _ = answer.send(encoder.query(&text));
                }
            })?;
        Ok(Self(ask))
    }
}

impl Pending {
    /// Begins at once, where there is a thread for it.
    pub fn of(text: String, aside: Option<&Aside>) -> Self {
        let answer = aside.and_then(|Aside(ask)| {
            let (answer, comes) = sync_channel(1);
            let text = text.clone();
            ask.send(Question { text, answer }).ok().map(|()| comes)
        });
        Self { text, answer }
    }

    /// Waits for it; without such a thread, makes it now.
    pub fn vector(self, encoder: &dyn Encoder) -> Vec<f32> {
        let answer = self.answer.and_then(|comes| comes.recv().ok());
        answer.unwrap_or_else(|| encoder.query(&self.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::testing::WordBag;

    /// An encoder that nothing can be asked of.
    struct Broken;

    impl Encoder for Broken {
        fn id(&self) -> &'static str {
            "broken"
        }
        fn width(&self) -> usize {
            1
        }
        fn query(&self, _: &str) -> Vec<f32> {
            panic!("as it was made to")
        }
        fn texts(&self, _: &[&str]) -> Vec<Vec<f32>> {
            Vec::new()
        }
    }

    #[test]
    fn a_question_is_answered_with_and_without_a_thread_and_if_that_has_died() {
        let want = WordBag.query("the harbour");
        let pending = |aside| Pending::of("the harbour".to_owned(), aside).vector(&WordBag);
        let aside = Aside::new(&WordBag).unwrap();
        assert_eq!(pending(Some(&aside)), want);
        assert_eq!(pending(Some(&aside)), want, "a second time");
        assert_eq!(pending(None), want);
        let dead = Aside::new(&Broken).unwrap();
        assert_eq!(pending(Some(&dead)), want);
        assert_eq!(pending(Some(&dead)), want, "nobody is there to be asked");
    }
}
