//! Journals made by hand, as an attacker makes them to change another user's database
//! (<https://sqlite.org/fileformat.html>, section 3).

use std::path::Path;

use rusqlite::Connection;

const MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
const SECTOR: usize = 512;

/// The bytes of a database with the table `plan`, whose one row says `word`.
pub fn database(directory: &Path, word: &str) -> Vec<u8> {
    let file = directory.join(format!("made-{word}.db"));
    let _old = std::fs::remove_file(&file);
    let database = Connection::open(&file).unwrap();
    let made = format!("CREATE TABLE plan (word TEXT); INSERT INTO plan VALUES ('{word}')");
    database.execute_batch(&made).unwrap();
    drop(database);
    std::fs::read(file).unwrap()
}

/// A rollback journal that is played at once: afterwards the database is `wanted`. With
/// `superior` it names a super-journal, which is removed when it was played.
pub fn rollback(wanted: &[u8], superior: Option<&str>) -> Vec<u8> {
    let page_size = usize::from(u16::from_be_bytes([wanted[16], wanted[17]]));
    let pages = wanted.len() / page_size;
    let nonce = 7_u32;
    let number = |number: usize| u32::try_from(number).unwrap().to_be_bytes();
    let mut journal = MAGIC.to_vec();
    for field in [pages, nonce as usize, pages, SECTOR, page_size] {
        journal.extend(number(field));
    }
    journal.resize(SECTOR, 0);
    for (at, page) in wanted.chunks(page_size).enumerate() {
        journal.extend(number(at + 1));
        journal.extend(page);
        let sampled = (1..)
            .map(|step| page_size as isize - 200 * step)
            .take_while(|at| *at > 0);
        let sum = sampled.fold(nonce, |sum, at| {
            sum.wrapping_add(u32::from(page[at as usize]))
        });
        journal.extend(sum.to_be_bytes());
    }
    if let Some(name) = superior {
        journal.extend(number(0x4000_0000 / page_size + 1));
        journal.extend(name.as_bytes());
        journal.extend(number(name.len()));
        let sum: u32 = name.bytes().map(u32::from).sum();
        journal.extend(sum.to_be_bytes());
        journal.extend(MAGIC);
    }
    journal
}

/// A database in WAL mode that says `word`, and a log that makes it say `other`.
pub fn with_log(directory: &Path, word: &str, other: &str) -> (Vec<u8>, Vec<u8>) {
    let file = directory.join("made-log.db");
    for end in ["", "-wal", "-shm"] {
        let _old = std::fs::remove_file(directory.join(format!("made-log.db{end}")));
    }
    std::fs::write(&file, database(directory, word)).unwrap();
    let mode = "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;";
    Connection::open(&file)
        .unwrap()
        .execute_batch(mode)
        .unwrap();
    let clean = std::fs::read(&file).unwrap();
    let open = Connection::open(&file).unwrap();
    open.execute_batch(&format!(
        "PRAGMA wal_autocheckpoint = 0; UPDATE plan SET word = '{other}'"
    ))
    .unwrap();
    let log = std::fs::read(directory.join("made-log.db-wal")).unwrap();
    drop(open);
    (clean, log)
}

/// Returns the word in the database after SQLite has opened it with this journal beside it.
pub fn is_played(directory: &Path, database: &[u8], end: &str, journal: &[u8]) -> String {
    let file = directory.join("tried.db");
    for end in ["", "-journal", "-wal", "-shm"] {
        let _old = std::fs::remove_file(directory.join(format!("tried.db{end}")));
    }
    std::fs::write(&file, database).unwrap();
    std::fs::write(directory.join(format!("tried.db{end}")), journal).unwrap();
    Connection::open(&file)
        .unwrap()
        .query_row("SELECT word FROM plan", [], |row| row.get(0))
        .unwrap()
}
