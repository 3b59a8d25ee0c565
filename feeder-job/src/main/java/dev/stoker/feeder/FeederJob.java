package dev.stoker.feeder;

/** Entry point of the feeder job jar. */
public final class FeederJob {
    private FeederJob() {}

    public static void main(String[] args) {
        throw new UnsupportedOperationException("the feeder job is a placeholder that does nothing yet");
    }
}
