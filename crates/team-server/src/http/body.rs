//! [`JsonBody`]: a request's JSON, perhaps gzipped, never larger than allowed; and compression of answers.

use std::io::{Read as _, Write as _};
use std::time::Duration;

use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use claude_mem_wire::ErrorCode;
use claude_mem_wire::limits::REQUEST_BYTES_MAX;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use http_body_util::BodyExt as _;
use serde::de::DeserializeOwned;

use crate::error::ServiceError;

/// A request's body must arrive within this time.
const BODY_SECONDS_MAX: u64 = 30;

/// A body that is too large is read up to this, so that the answer arrives.
const DRAIN_BYTES_MAX: usize = 8 * REQUEST_BYTES_MAX;

/// Answers shorter than this are not compressed.
const COMPRESS_BYTES_MIN: usize = 1_024;

/// Too large for the network between: a client sends less at a time.
const TOO_SLOW: ServiceError = ServiceError::Refused(ErrorCode::TooLarge, "the body did not arrive in time");
const TOO_LARGE: ServiceError = ServiceError::Refused(ErrorCode::TooLarge, "the request is too large");

/// The parsed body of a request.
#[derive(Debug)]
pub(super) struct JsonBody<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for JsonBody<T> {
    type Rejection = ServiceError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ServiceError> {
        let is_gzip = match request.headers().get(header::CONTENT_ENCODING).map(HeaderValue::as_bytes) {
            None | Some(b"identity") => false,
            Some(b"gzip") => true,
            Some(_) => return Err(ServiceError::bad_request("only gzip is understood")),
        };
        let bytes = read_within(request.into_body(), Duration::from_secs(BODY_SECONDS_MAX)).await?;
        let parse = |bytes: &[u8]| {
            serde_json::from_slice(bytes)
                .map(Self)
                .map_err(|_| ServiceError::bad_request("the body is not the JSON that this route takes"))
        };
        if is_gzip { parse(&gunzip(&bytes)?) } else { parse(&bytes) }
    }
}

/// The whole body, if it arrives in time.
async fn read_within(body: axum::body::Body, time: Duration) -> Result<Vec<u8>, ServiceError> {
    tokio::time::timeout(time, read_bounded(body)).await.map_err(|_| TOO_SLOW)?
}

/// The whole body. A larger one is read a little further and refused: a client that is cut off while it
/// still sends would not see the answer.
async fn read_bounded(mut body: axum::body::Body) -> Result<Vec<u8>, ServiceError> {
    let (mut bytes, mut length) = (Vec::new(), 0);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| ServiceError::bad_request("the body is incomplete"))?;
        let Some(data) = frame.data_ref() else { continue };
        length += data.len();
        if length <= REQUEST_BYTES_MAX {
            bytes.extend_from_slice(data);
        } else if length > DRAIN_BYTES_MAX {
            break;
        }
    }
    if length > REQUEST_BYTES_MAX { Err(TOO_LARGE) } else { Ok(bytes) }
}

/// Decompresses up to the limit; a bomb is refused after that.
fn gunzip(bytes: &[u8]) -> Result<Vec<u8>, ServiceError> {
    let mut plain = Vec::new();
    let mut decoder = GzDecoder::new(bytes).take(REQUEST_BYTES_MAX as u64 + 1);
    let read = decoder.read_to_end(&mut plain);
    read.map_err(|_| ServiceError::bad_request("the body is not gzip"))?;
    if plain.len() > REQUEST_BYTES_MAX { Err(TOO_LARGE) } else { Ok(plain) }
}

/// Whether the client takes gzip.
pub(super) fn accepts_gzip(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    accepted.is_some_and(|value| value.split(',').any(|part| part.trim() == "gzip"))
}

/// Compresses an answer that is worth it.
pub(super) async fn compress(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    let Ok(collected) = body.collect().await else {
        // Bodies of answers are in memory and cannot fail.
        return Response::from_parts(parts, axum::body::Body::empty());
    };
    let plain = collected.to_bytes();
    if plain.len() < COMPRESS_BYTES_MIN {
        return Response::from_parts(parts, plain.into());
    }
    let mut encoder = GzEncoder::new(Vec::with_capacity(plain.len() / 3), Compression::fast());
    let Ok(compressed) = encoder.write_all(&plain).and_then(|()| encoder.finish()) else {
        return Response::from_parts(parts, plain.into());
    };
    parts.headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    parts.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(parts, compressed.into())
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use axum::body::{Body, Bytes};
    use futures_util::stream;

    use super::*;

    /// A client that is told so sends half of it next time.
    #[tokio::test]
    async fn body_that_does_not_arrive_in_time_is_too_large() {
        let never = Body::from_stream(stream::pending::<Result<Bytes, Infallible>>());
        let refused = read_within(never, Duration::from_millis(1)).await.unwrap_err();
        assert!(matches!(refused, ServiceError::Refused(ErrorCode::TooLarge, _)), "{refused}");
        let whole = read_within(Body::from("{}"), Duration::from_mins(10)).await.unwrap();
        assert_eq!(whole, b"{}");
    }
}
