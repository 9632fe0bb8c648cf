-- Users whose credentials and work an administrator ended: whatever began before is over.
CREATE TABLE ended_users (
    user_id TEXT PRIMARY KEY,
    ended_at BIGINT NOT NULL          -- Unix seconds
);
