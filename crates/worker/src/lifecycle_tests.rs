use super::*;

#[test]
fn unreadable_settings_delete_nothing() {
    let defaults = Settings::default();
    let as_set = conservative_retention(defaults.clone(), false);
    assert_eq!(as_set.backups_keep, defaults.backups_keep);
    let careful = conservative_retention(defaults, true);
    let kept = (careful.backups_keep, careful.backups_bytes_max);
    assert_eq!(kept, (1_000, u64::MAX));
    let kept = (careful.log_days, careful.log_bytes_max);
    assert_eq!(kept, (3_650, u64::MAX));
    assert_eq!(careful.prompts_days_max, 0);
}
