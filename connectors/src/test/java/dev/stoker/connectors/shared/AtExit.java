package dev.stoker.connectors.shared;

/** Ends servers of a test JVM with it. */
final class AtExit {

    private AtExit() {}

    /** What ends a server. */
    interface End {
        void run() throws Exception;
    }

    static void run(End end) {
        Runtime.getRuntime()
                .addShutdownHook(new Thread(
                        () -> {
                            try {
                                end.run();
                            } catch (Exception e) {
                                throw new IllegalStateException("A shared server does not end", e);
                            }
                        },
                        "end of a shared server"));
    }
}
