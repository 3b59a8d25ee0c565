package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class SignalsTest {
    @Test
    void givesTheExitCodeOfTheFirstSignal() throws Exception {
        CountDownLatch first = new CountDownLatch(1);
        CountDownLatch both = new CountDownLatch(2);
        try (Signals signals = new Signals()) {
            assertThat(signals.exitCode()).isEmpty();
            signals.onStop(first::countDown);
            signals.onStop(both::countDown);
            send("HUP");
            assertThat(first.await(30, TimeUnit.SECONDS)).isTrue();
            assertThat(signals.exitCode()).hasValue(128 + 1);
            send("TERM");
            assertThat(both.await(30, TimeUnit.SECONDS)).isTrue();
            assertThat(signals.exitCode()).hasValue(128 + 1);
        }
    }

    private static void send(String signal) throws Exception {
        String process = Long.toString(ProcessHandle.current().pid());
        assertThat(new ProcessBuilder("kill", "-" + signal, process).start().waitFor())
                .isZero();
    }
}
