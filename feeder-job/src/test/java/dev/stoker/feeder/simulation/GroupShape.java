package dev.stoker.feeder.simulation;

import dev.stoker.schemas.order.delivery.TailPolicy;

/**
 * How a group trains.
 *
 * @param stepNanos maximum time of a step
 * @param slowness how much slower each further replica is
 * @param hasRuns whether its launcher numbers its launches, rather than the feeder
 * @param skipsBatches whether it leaves out some batches of each epoch
 */
record GroupShape(
        String stream,
        String name,
        int worldSize,
        int workers,
        int replicas,
        TailPolicy tail,
        int depth,
        boolean prefetches,
        long stepNanos,
        int slowness,
        boolean hasRuns,
        boolean skipsBatches) {

    /**
     * Returns the run with which the trainers of a launch begin. If the launcher does not number its launches, the
     * first feeder that they asked has drawn the run, and all other feeders learn it from them.
     */
    Trainer.Runs runsOfLaunch(long run) {
        if (hasRuns) {
            return new Trainer.Runs(run, 0);
        }
        return new Trainer.Runs(0, isSingle() ? 0 : run);
    }

    /** Returns the run with which a trainer of a run begins after a restart. */
    Trainer.Runs runsOfRestart(long run) {
        return new Trainer.Runs(hasRuns || isSingle() ? run : 0, 0);
    }

    private boolean isSingle() {
        return worldSize * workers * replicas == 1;
    }
}
