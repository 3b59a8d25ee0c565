package dev.stoker.cli.output;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class SignalsTest {
    /** Only SIGTERM: a parent may have told this process to ignore the others. */
    @Test
    void givesTheExitCodeOfTheSignal() throws Exception {
        CountDownLatch stopped = new CountDownLatch(1);
        try (Signals signals = new Signals()) {
            assertThat(signals.exitCode()).isEmpty();
            signals.onStop(stopped::countDown);
            send("TERM");
            assertThat(stopped.await(30, TimeUnit.SECONDS)).isTrue();
            assertThat(signals.exitCode()).hasValue(128 + 15);
        }
    }

    @Test
    void interruptsWork() throws Exception {
        CountDownLatch never = new CountDownLatch(1);
        String result = Signals.interrupting(
                () -> {
                    send("TERM");
                    never.await();
                    return "done";
                },
                e -> "interrupted by " + e.getClass().getSimpleName());
        assertThat(result).isEqualTo("interrupted by InterruptedException");
    }

    @Test
    void failuresWithoutASignalAreThrown() {
        IOException failure = new IOException("disk full");
        assertThatThrownBy(() -> Signals.interrupting(
                        () -> {
                            throw failure;
                        },
                        e -> "interrupted"))
                .isSameAs(failure);
    }

    private static void send(String signal) throws Exception {
        String process = Long.toString(ProcessHandle.current().pid());
        assertThat(new ProcessBuilder("kill", "-" + signal, process).start().waitFor())
                .isZero();
    }
}
