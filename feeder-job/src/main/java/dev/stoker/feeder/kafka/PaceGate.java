package dev.stoker.feeder.kafka;

/** Whether a lane may write on. Any thread. */
interface PaceGate extends AutoCloseable {
    /** A feed that waits for nobody. */
    PaceGate OPEN = new PaceGate() {
        @Override
        public boolean allows(int lane, long epoch) {
            return true;
        }

        @Override
        public void wrote(int lane, int bytes) {
            // Nobody asks.
        }

        @Override
        public void close() {
            // Nothing is open.
        }
    };

    /** Whether the lane may write records of an epoch now. */
    boolean allows(int lane, long epoch);

    /** A record was made. */
    void wrote(int lane, int bytes);

    @Override
    void close();
}
