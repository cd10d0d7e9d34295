//! What an endpoint tells its user.
use crate::requester::{CallId, Failure};
use crate::responder::RequestId;

/// What has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// A call has its reply, and everything that it lent is its user's again. Look at it, then
    /// release the call.
    Replied(CallId),
    /// A call has failed for good, and everything that it lent is its user's again. Release it.
    Failed(CallId, Failure),
    /// A call has come; it awaits a reply, or a refusal.
    Call(RequestId),
    /// A reply is over: places that were lent to it may change again.
    Released(RequestId),
    /// The connection is over. Calls without a reply go again on the next one.
    Disconnected,
}
