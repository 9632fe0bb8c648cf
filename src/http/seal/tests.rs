//! Tests of sealed connections, with an attacker in between who reads, keeps, changes and repeats records.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};

use super::*;

const CALL: &[u8] = b"Authorization: Bearer canary-of-a-caller";
const ANSWER: &[u8] = b"canary-of-an-answer";

/// More than any of these conversations has.
const BUFFER: usize = 64 * 1024;

fn seal(secret: u8) -> Seal {
    Seal::new([secret; 32]).expect("a seal")
}

fn key(secret: u8) -> Arc<CertifiedKey> {
    let seal = seal(secret);
    let resolver = &seal.connector.config().client_auth_cert_resolver;
    resolver.resolve(&[], &[]).expect("a key")
}

/// Returns a seal with the certificate of one key, and the private key of another.
fn impostor(secret: u8) -> Seal {
    let (public, private) = (key(secret), key(secret + 1));
    let key = CertifiedKey::new(public.cert.clone(), Arc::clone(&private.key));
    Seal::with_key(key).expect("a seal")
}

/// Bytes that each end has read, or its failure, and the records that passed.
struct Conversation {
    called: io::Result<Vec<u8>>,
    answered: io::Result<Vec<u8>>,
    /// From the client, in records.
    there: Vec<Vec<u8>>,
    /// From the server.
    back: Vec<u8>,
}

impl Conversation {
    /// Lets a client call a server; `change` may change each record of the client.
    async fn of(client: Seal, server: Seal, change: impl Fn(usize, &mut Vec<u8>)) -> Self {
        let (ours, between_us) = duplex(BUFFER);
        let (between_them, theirs) = duplex(BUFFER);
        let (called, answered, (there, back)) = tokio::join!(
            answer(server, theirs),
            call(client, ours),
            pass(between_us, between_them, change)
        );
        Self {
            called,
            answered,
            there,
            back,
        }
    }

    fn shows(&self, text: &[u8]) -> bool {
        let seen = [self.there.concat(), self.back.clone()].concat();
        seen.windows(text.len()).any(|part| part == text)
    }
}

async fn call(seal: Seal, stream: DuplexStream) -> io::Result<Vec<u8>> {
    let mut stream = seal.connect(stream).await?;
    stream.write_all(CALL).await?;
    stream.shutdown().await?;
    let mut read = Vec::new();
    stream.read_to_end(&mut read).await?;
    Ok(read)
}

async fn answer(seal: Seal, stream: DuplexStream) -> io::Result<Vec<u8>> {
    let mut stream = seal.acceptor.accept(stream).await?;
    let mut read = Vec::new();
    stream.read_to_end(&mut read).await?;
    stream.write_all(ANSWER).await?;
    stream.shutdown().await?;
    Ok(read)
}

async fn pass(
    client: DuplexStream,
    server: DuplexStream,
    change: impl Fn(usize, &mut Vec<u8>),
) -> (Vec<Vec<u8>>, Vec<u8>) {
    let (mut from_client, mut to_client) = tokio::io::split(client);
    let (mut from_server, mut to_server) = tokio::io::split(server);
    let there = async {
        let mut records = Vec::new();
        let mut head = [0; 5];
        while from_client.read_exact(&mut head).await.is_ok() {
            let mut record = head.to_vec();
            let length = usize::from(u16::from_be_bytes([head[3], head[4]]));
            record.resize(head.len() + length, 0);
            let body = from_client.read_exact(&mut record[head.len()..]).await;
            body.expect("a whole record");
            let mut changed = record.clone();
            change(records.len(), &mut changed);
            records.push(record);
            if to_server.write_all(&changed).await.is_err() {
                break;
            }
        }
        let _over = to_server.shutdown().await;
        records
    };
    let back = async {
        let mut seen = Vec::new();
        let mut piece = [0; 1024];
        while let Ok(length @ 1..) = from_server.read(&mut piece).await {
            seen.extend_from_slice(&piece[..length]);
            if to_client.write_all(&piece[..length]).await.is_err() {
                break;
            }
        }
        let _over = to_client.shutdown().await;
        seen
    };
    tokio::join!(there, back)
}

fn as_it_is(_: usize, _: &mut Vec<u8>) {}

#[tokio::test]
async fn servers_of_one_installation_talk_and_nobody_reads_along() {
    let talk = Conversation::of(seal(1), seal(1), as_it_is).await;
    assert_eq!(talk.called.as_deref().expect("a call"), CALL);
    assert_eq!(talk.answered.as_deref().expect("an answer"), ANSWER);
    assert!(!talk.there.is_empty() && !talk.back.is_empty());
    assert!(!talk.shows(CALL) && !talk.shows(ANSWER));
}

#[tokio::test]
async fn who_has_another_secret_or_the_public_key_alone_learns_nothing() {
    for (client, server) in [
        (seal(1), seal(2)),
        (seal(1), impostor(1)),
        (impostor(1), seal(1)),
    ] {
        let talk = Conversation::of(client, server, as_it_is).await;
        talk.called.as_ref().expect_err("it was called");
        talk.answered.as_ref().expect_err("it was answered");
        assert!(!talk.shows(CALL) && !talk.shows(ANSWER));
    }
}

#[tokio::test]
async fn who_shows_no_key_is_not_answered() {
    let (ours, theirs) = duplex(BUFFER);
    let provider = Arc::new(ring::default_provider());
    let anonymous = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&TLS13])
        .expect("a version")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(SameKey {
            public: key(1).cert[0].clone(),
            signatures: provider.signature_verification_algorithms,
        }))
        .with_no_client_auth();
    let anonymous = Seal {
        connector: Arc::new(anonymous).into(),
        ..seal(1)
    };
    let (called, answered) = tokio::join!(answer(seal(1), theirs), call(anonymous, ours));
    called.expect_err("it was called");
    answered.expect_err("it was answered");
}

#[tokio::test]
async fn what_is_sent_again_begins_nothing() {
    let talk = Conversation::of(seal(1), seal(1), as_it_is).await;
    let (mut ours, theirs) = duplex(BUFFER);
    let replayed = async {
        ours.write_all(&talk.there.concat()).await.expect("sent");
        let mut back = Vec::new();
        let _reset = ours.read_to_end(&mut back).await;
    };
    let (called, ()) = tokio::join!(answer(seal(1), theirs), replayed);
    called.expect_err("it was called again");
}

#[tokio::test]
async fn a_record_that_is_changed_repeated_or_left_out_ends_the_connection() {
    const ENCRYPTED: u8 = 23;
    let change: fn(&mut Vec<u8>) = |record| *record.last_mut().expect("a byte") ^= 1;
    let repeat: fn(&mut Vec<u8>) = |record| record.extend_from_within(..);
    let there = Conversation::of(seal(1), seal(1), as_it_is).await.there;
    for (at, record) in there.iter().enumerate() {
        let mut attacks = vec![change];
        // After the last one nothing is read.
        if record[0] == ENCRYPTED && at + 1 < there.len() {
            attacks.extend([repeat, Vec::clear]);
        }
        for attack in attacks {
            let attacked = |number, bytes: &mut Vec<u8>| {
                if number == at {
                    attack(bytes);
                }
            };
            let talk = Conversation::of(seal(1), seal(1), attacked).await;
            talk.called.expect_err("it was called");
        }
    }
}
