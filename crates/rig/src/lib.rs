//! Test rig: a scripted model on loopback and the real clients in a sandboxed HOME.
