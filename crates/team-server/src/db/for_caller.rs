//! [`Database::for_caller`]: what a member asks for, in one transaction.

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;

use claude_mem_wire::SecretHash;
use deadpool_postgres::Transaction;

use super::caller::{Caller, authenticate, begin, begin_snapshot};
use super::connect::Database;
use crate::error::ServiceError;

/// The work of one request, as long as its transaction.
pub(crate) type CallerWork<'t, T> = Pin<Box<dyn Future<Output = Result<T, ServiceError>> + Send + 't>>;

/// Says to the compiler that what a request borrows (`'r`) outlives its transaction (`'t`): a bound cannot say that
/// for every `'t`. It holds nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestScope<'t, 'r>(PhantomData<&'t &'r ()>);

/// The access mode of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TransactionKind {
    ReadWrite,
    /// Reads several tables as of one moment.
    ReadSnapshot,
}

impl Database {
    /// Begins a transaction, finds the caller of the token, does the work and commits. Repeats this while the
    /// transaction loses against others.
    pub(crate) async fn for_caller<'r, T: Send>(
        &self,
        token: &SecretHash,
        kind: TransactionKind,
        work: impl for<'t> Fn(&'t Transaction<'t>, &'t Caller, RequestScope<'t, 'r>) -> CallerWork<'t, T>
        + Send
        + Sync,
    ) -> Result<T, ServiceError> {
        self.repeat(|| async {
            let mut connection = self.connection().await?;
            let transaction = match kind {
                TransactionKind::ReadWrite => begin(&mut connection).await?,
                TransactionKind::ReadSnapshot => begin_snapshot(&mut connection).await?,
            };
            let caller = authenticate(&transaction, token).await?;
            let reply = work(&transaction, &caller, RequestScope(PhantomData)).await?;
            transaction.commit().await?;
            Ok(reply)
        })
        .await
    }
}
