//! Attacks: resources.

use serde_json::json;

use super::Scene;

#[test]
fn limits_hold() {
    let scene = Scene::new();
    let ended = scene
        .attack("truncate", &["-s", "10T", "giant"])
        .expect("installed");
    assert_ne!(ended.status, Some(0));
    let memory = json!({"limits": {"memory": 1_u64 << 28}});
    if let Some(ended) = scene.attack_with("python3", &["-c", "x = b'x' * (1 << 30)"], &memory) {
        assert!(ended.output.contains("MemoryError"), "{}", ended.output);
    }
    let cpu = json!({"limits": {"cpu_seconds": 1}});
    let ended = scene.attack_with("gawk", &["BEGIN{for(;;);}"], &cpu);
    assert!(ended.is_none_or(|ended| ended.status.is_none()));
}
