//! Sizes in bytes, as people read them.

/// Formats a size for people: `512 B`, `1.5 KB`, `20.0 MB`, in steps of 1024.
pub fn human_size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["KB", "MB", "GB", "TB", "PB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut size = bytes as f64 / 1024.0;
    let mut unit = 0;
    while size >= 1023.95 && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    format!("{size:.1} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::human_size;

    #[test]
    fn sizes_as_people_read_them() {
        for (bytes, shown) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1536, "1.5 KB"),
            (1_048_575, "1.0 MB"),
            (20 << 20, "20.0 MB"),
        ] {
            assert_eq!(human_size(bytes), shown);
        }
    }
}
