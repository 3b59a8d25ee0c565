package dev.stoker.schemas.protocol;

/**
 * The launch of a job by a launcher that restarts it.
 *
 * @param launcher the launcher's name, such as {@code torchelastic} or {@code slurm}
 * @param id the job's id, as the launcher gives it
 * @param restarts how often the launcher has restarted the job
 */
public record Launch(String launcher, String id, int restarts) {
    private static final int MAX_LAUNCHER = 64;
    private static final int MAX_ID = 255;

    public Launch {
        Fields.name("launch.launcher", launcher, MAX_LAUNCHER);
        Fields.name("launch.id", id, MAX_ID);
        Fields.natural("launch.restarts", restarts);
    }

    /** Whether both are starts of one job. */
    public boolean isSameJob(Launch other) {
        return launcher.equals(other.launcher) && id.equals(other.id);
    }

    /** Whether this is a later start of the same job. */
    public boolean isLaterThan(Launch other) {
        return isSameJob(other) && restarts > other.restarts;
    }
}
