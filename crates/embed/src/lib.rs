//! Text in, a unit vector out. Knows nothing of memory.
