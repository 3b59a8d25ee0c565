package dev.stoker.flink.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.storage.errors.NoSpaceException;
import dev.stoker.storage.errors.StoreUnavailableException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class PatienceTest {

    /** A clock that advances without waiting. */
    private static final class Fast implements Patience.Clock {
        private long nanos;
        private List<String> waiting = List.of();

        @Override
        public long nanos() {
            return nanos;
        }

        @Override
        public void pause(Duration time) {
            nanos += time.toNanos();
            waiting = Outages.all();
        }
    }

    private final Fast clock = new Fast();

    private Patience endless(boolean hasWorked) {
        return new Patience(Optional.empty(), clock, hasWorked);
    }

    private static Patience.Call<String> failing(int times, IOException... failures) {
        Deque<IOException> left = new ArrayDeque<>();
        for (int i = 0; i < times; i++) {
            left.addAll(Arrays.asList(failures));
        }
        return () -> {
            if (!left.isEmpty()) {
                throw left.remove();
            }
            return "done";
        };
    }

    private static StoreUnavailableException away() {
        return new StoreUnavailableException("503", null);
    }

    @Test
    void waitsForAnHourAndLonger() throws Exception {
        assertThat(endless(true).call("Writing", failing(1000, away()))).isEqualTo("done");
        assertThat(Duration.ofNanos(clock.nanos)).isGreaterThan(Duration.ofHours(8));
        assertThat(clock.waiting).contains("503");
        assertThat(Outages.all()).isEmpty();
    }

    @Test
    void waitsNoLongerThanItsLimit() {
        Patience patience = new Patience(Optional.of(Duration.ofHours(1)), clock, true);
        assertThatThrownBy(() -> patience.call("Writing", failing(1000, away())))
                .hasMessage("503");
        assertThat(Duration.ofNanos(clock.nanos)).isBetween(Duration.ofMinutes(58), Duration.ofHours(1));
        assertThat(Outages.all()).isEmpty();
    }

    @Test
    void doesNotRepeatWhatNeverWorked() throws Exception {
        Patience patience = endless(false);
        assertThatThrownBy(() -> patience.call("Writing", failing(1, away()))).hasMessage("503");
        assertThat(clock.nanos).isZero();
        patience.call("Writing", failing(0));
        assertThat(patience.call("Writing", failing(1, new NoSpaceException("x", null))))
                .isEqualTo("done");
    }

    @Test
    void throwsAtOnceWhatIsFinalAndWhatIsUnknown() {
        assertThatThrownBy(() -> endless(true).call("Writing", failing(1, new CorruptDataException("log"))))
                .hasMessage("log");
        assertThatThrownBy(() -> endless(true).call("Writing", failing(1, new IOException("?"))))
                .hasMessage("?");
        assertThat(clock.nanos).isZero();
    }

    @Test
    void anInterruptEndsTheWait() {
        Patience patience = new Patience(
                Optional.empty(),
                new Patience.Clock() {
                    @Override
                    public long nanos() {
                        return 0;
                    }

                    @Override
                    public void pause(Duration time) throws InterruptedException {
                        throw new InterruptedException("cancelled");
                    }
                },
                true);
        assertThatThrownBy(() -> patience.call("Writing", failing(9, away()))).isInstanceOf(InterruptedException.class);
        assertThat(Outages.all()).isEmpty();
    }
}
