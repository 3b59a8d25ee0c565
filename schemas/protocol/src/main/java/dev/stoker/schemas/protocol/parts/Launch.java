package dev.stoker.schemas.protocol.parts;

/**
 * Identifies the launch of a job by a launcher that restarts it.
 *
 * @param launcher the launcher's name, such as {@code torchelastic} or {@code slurm}
 * @param id id of the job, as given by the launcher
 * @param restarts number of times that the launcher has restarted the job
 */
public record Launch(String launcher, String id, int restarts) {
    private static final int MAX_LAUNCHER = 64;
    private static final int MAX_ID = 255;

    public Launch {
        Fields.name("launch.launcher", launcher, MAX_LAUNCHER);
        Fields.name("launch.id", id, MAX_ID);
        Fields.natural("launch.restarts", restarts);
    }

    /** Returns whether both are launches of one job. */
    public boolean isSameJob(Launch other) {
        return launcher.equals(other.launcher) && id.equals(other.id);
    }

    /** Returns whether this is a later launch of the same job. */
    public boolean isLaterThan(Launch other) {
        return isSameJob(other) && restarts > other.restarts;
    }
}
