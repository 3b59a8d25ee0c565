package dev.stoker.feeder.topic;

import dev.stoker.schemas.kafka.RecordPosition;

/** Whether a lane may write on. Any thread. */
interface ThrottleGate extends AutoCloseable {
    /** A feed that waits for nobody. */
    ThrottleGate OPEN = new ThrottleGate() {
        @Override
        public boolean allows(int lane, RecordPosition next) {
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

    /** Whether the lane may write its next record now. */
    boolean allows(int lane, RecordPosition next);

    /** A record was made. */
    void wrote(int lane, int bytes);

    @Override
    void close();
}
