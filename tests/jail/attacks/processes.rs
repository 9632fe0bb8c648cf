//! Attacks: processes.

use std::process::Command;

use super::Scene;

#[test]
fn other_processes_are_out_of_reach() {
    let scene = Scene::new();
    let mut bystander = Command::new("/usr/bin/sleep")
        .arg("600")
        .spawn()
        .expect("started");
    let pid = bystander.id();
    let kill =
        format!("import os\ntry:\n  os.kill({pid}, 9); print('killed')\nexcept OSError: pass");
    let session = "import os\nfor call in (os.setsid, lambda: os.setpgid(0, 0)):\n  try:\n    call(); print('left')\n  except OSError: pass";
    let fork = "import os\nif os.fork() == 0:\n  try:\n    os.setsid(); print('left')\n  except OSError: pass";
    for (program, text) in [
        ("python3", kill.as_str()),
        ("python3", session),
        ("python3", fork),
    ] {
        if let Some(ended) = scene.attack(program, &["-c", text]) {
            assert!(
                !ended.output.contains("killed") && !ended.output.contains("left"),
                "{}",
                ended.output
            );
        }
    }
    let alive = bystander.try_wait().expect("asked").is_none();
    bystander.kill().expect("ended");
    bystander.wait().expect("reaped");
    assert!(alive, "a command killed a process outside");
}
