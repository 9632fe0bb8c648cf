//! The end of a connection that is one process's own: what runs for it ends too.

use tokio::sync::watch;

/// Says when the connection ends.
#[derive(Debug)]
pub(super) struct Close(watch::Sender<bool>);

/// Hears of it.
#[derive(Clone, Debug)]
pub(super) struct Closing(watch::Receiver<bool>);

/// Both ends.
pub(super) fn pair() -> (Close, Closing) {
    let (sender, receiver) = watch::channel(false);
    (Close(sender), Closing(receiver))
}

impl Close {
    /// It ends now.
    pub(super) fn now(&self) {
        self.0.send_replace(true);
    }
}

impl Closing {
    /// Waits for it.
    pub(super) async fn closed(&self) {
        let mut receiver = self.0.clone();
        let _gone_too = receiver.wait_for(|closed| *closed).await;
    }
}
