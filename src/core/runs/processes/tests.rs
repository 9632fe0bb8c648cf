//! Tests of shells: ids, reconnection and flow control.

use super::*;

struct Desk {
    shells: Processes,
    clock: Clock,
    user: UserId,
}

impl Desk {
    fn new() -> Self {
        let clock = Clock::movable();
        Self {
            shells: Processes::new(&Settings::new("unused"), &Limiter::new(&clock), None),
            clock,
            user: UserId::parse("ada").expect("a user"),
        }
    }

    fn caller(&self, chat: &Chat) -> Caller {
        Caller::known(self.user.clone(), chat.clone())
    }

    fn add(&self, chat: &Chat) -> (Arc<Process>, ShellEntry) {
        let added = self.shells.add_shell(&self.caller(chat), "ada");
        added.expect("a shell")
    }

    fn resume(&self, chat: &Chat) -> Option<ShellEntry> {
        self.shells
            .resume(&self.caller(chat))
            .expect("random bytes")
    }

    fn come(&self, id: &str) -> Result<ShellConnection, ShellSessionError> {
        self.shells
            .connect(Some(&self.user), id, true, Box::new(|| ()))
    }
}

#[test]
fn an_id_is_good_for_half_a_minute() {
    let desk = Desk::new();
    let chat = Chat::new("c1");
    let (_, early) = desk.add(&chat);
    let (_, late) = desk.add(&chat);
    desk.clock.advance(20);
    assert!(desk.come(&early.id).is_ok());
    desk.clock.advance(11);
    assert_eq!(desk.come(&late.id).err(), Some(ShellSessionError::Unknown));
    // A client with another credential may connect at any time.
    let user = Some(&desk.user);
    let connected = desk.shells.connect(user, &late.id, false, Box::new(|| ()));
    assert!(connected.is_ok());
}

#[test]
fn an_id_that_was_used_does_not_tell_who_is_there() {
    let desk = Desk::new();
    let (_, entry) = desk.add(&Chat::new("c1"));
    let _there = desk.come(&entry.id).expect("connected");
    assert_eq!(desk.come(&entry.id).err(), Some(ShellSessionError::Unknown));
    let user = Some(&desk.user);
    let second = desk.shells.connect(user, &entry.id, false, Box::new(|| ()));
    assert_eq!(second.err(), Some(ShellSessionError::Connected));
}

#[test]
fn ids_differ_and_cannot_be_guessed() {
    let desk = Desk::new();
    let chat = Chat::default();
    let (_, one) = desk.add(&chat);
    let (_, other) = desk.add(&chat);
    assert_ne!(one.id, other.id);
    assert_eq!(hex::decode(&one.id).map(|bytes| bytes.len()), Ok(32));
    assert!(!format!("{:?}", desk.shells).contains(&one.id));
}

#[test]
fn the_shell_that_was_left_last_comes_first() {
    let desk = Desk::new();
    let chat = Chat::new("c1");
    let (_, first) = desk.add(&chat);
    let (_, second) = desk.add(&chat);
    assert_eq!(desk.resume(&chat), None, "somebody may still come to both");
    drop(desk.come(&second.id));
    desk.clock.advance(5);
    drop(desk.come(&first.id));
    desk.clock.advance(5);
    assert_eq!(desk.resume(&Chat::new("c2")), None);
    let one = desk.resume(&chat).expect("the first");
    let other = desk.resume(&chat).expect("the second");
    assert_eq!(desk.resume(&chat), None);
    assert_eq!(
        (one.created_at, other.created_at),
        (first.created_at, second.created_at)
    );
    let at_first = desk.come(&one.id).expect("a shell");
    at_first.resize(10, 10);
    for id in [&first.id, &second.id, &one.id] {
        assert!(desk.come(id).is_err());
    }
}

#[test]
fn who_does_not_come_with_a_new_id_gives_it_back() {
    let desk = Desk::new();
    let chat = Chat::new("c1");
    let (shell, first) = desk.add(&chat);
    drop(desk.come(&first.id));
    let again = desk.resume(&chat).expect("the shell");
    shell.close(&again.id);
    assert_eq!(shell.request(), EndRequest::None);
    let once_more = desk.resume(&chat).expect("the shell");
    let connection = desk.come(&once_more.id).expect("the shell");
    shell.close(&once_more.id);
    assert_eq!(shell.request(), EndRequest::Kill);
    assert_eq!(connection.take(10), ShellOutput::Nothing);
    shell.end(None, true);
    assert_eq!(connection.take(10), ShellOutput::Ended);
}

#[test]
fn a_client_that_does_not_take_stops_its_shell() {
    let desk = Desk::new();
    let (shell, entry) = desk.add(&Chat::default());
    let nobody_is_there = (0..100).all(|_| {
        shell.show(&[b'x'; 16 * 1024]);
        shell.orders().has_room
    });
    assert!(nobody_is_there);
    let connection = desk.come(&entry.id).expect("a shell");
    let mut replayed = 0;
    while let ShellOutput::Bytes(bytes) = connection.take(10_000) {
        replayed += bytes.len();
    }
    assert_eq!(replayed, scrollback::KEPT);
    let mut sent = 0;
    while shell.orders().has_room {
        shell.show(&[b'y'; 1000]);
        sent += 1000;
    }
    assert!((64_000..70_000).contains(&sent), "{sent}");
    let mut taken = 0;
    while let ShellOutput::Bytes(bytes) = connection.take(10_000) {
        assert!(bytes.iter().all(|byte| *byte == b'y'));
        taken += bytes.len();
    }
    assert_eq!(taken, sent);
    assert!(shell.orders().has_room);
}

#[test]
fn what_is_not_read_is_typed_up_to_a_bound() {
    let desk = Desk::new();
    let (shell, entry) = desk.add(&Chat::default());
    let connection = desk.come(&entry.id).expect("a shell");
    let mut typed = 0;
    loop {
        let count = connection.type_in(&[b'x'; 1000]);
        typed += count;
        if count < 1000 {
            break;
        }
    }
    assert_eq!(typed, 64 * 1024);
    assert_eq!(shell.type_all("more"), Err(ShellSessionError::Full));
    shell.took(shell.orders().typed.len());
    assert_eq!(shell.type_all("more"), Ok(()));
}
