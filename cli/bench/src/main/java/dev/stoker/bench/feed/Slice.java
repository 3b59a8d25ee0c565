package dev.stoker.bench.feed;

/**
 * What one system has moved in one round.
 *
 * @param bytes of payload
 * @param samples 0 for a system without samples
 * @param seconds that passed
 * @param consumerCpu seconds of processor time of the receiving process
 * @param senderCpu seconds of processor time of the sending process; 0 if unknown
 */
record Slice(long bytes, long samples, double seconds, double consumerCpu, double senderCpu) {

    double bytesPerSecond() {
        return bytes / Math.max(1e-9, seconds);
    }

    double samplesPerSecond() {
        return samples / Math.max(1e-9, seconds);
    }

    double consumerCpuPerGb() {
        return bytes == 0 ? 0 : consumerCpu / bytes * 1e9;
    }

    double senderCpuPerGb() {
        return bytes == 0 ? 0 : senderCpu / bytes * 1e9;
    }
}
