//! Random bytes of the operating system, for secrets.

use crate::error::ServiceError;

pub(crate) fn random_bytes<const N: usize>() -> Result<[u8; N], ServiceError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}
