package dev.stoker.feeder.source.enumerator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.feeder.source.split.ConsumerEnd;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class JobEndTest {

    private static ConsumerEnd end(String group, long run, long epoch, int rank, int world) {
        return new ConsumerEnd("train", group, run, epoch, rank, world, 0, 1);
    }

    @Test
    void waitsForEveryRankOfTheLastEpoch() {
        JobEnd job = new JobEnd(OptionalLong.of(2), List.of());
        assertThat(job.reached()).isFalse();
        job.add(List.of(end("g", 1, 0, 0, 2), end("g", 1, 0, 1, 2), end("g", 1, 1, 0, 2)));
        assertThat(job.reached()).isFalse();
        job.add(List.of(end("g", 1, 1, 1, 2)));
        assertThat(job.reached()).isTrue();
    }

    @Test
    void countsOnlyTheNewestRun() {
        JobEnd job = new JobEnd(OptionalLong.of(1), List.of());
        job.add(List.of(end("g", 1, 0, 0, 1), end("g", 2, 0, 0, 2)));
        assertThat(job.reached()).isFalse();
        job.add(List.of(end("g", 2, 0, 1, 2)));
        assertThat(job.reached()).isTrue();
    }

    @Test
    void waitsForDeclaredGroups() {
        JobEnd job = new JobEnd(OptionalLong.of(1), List.of(new JobEnd.Group("train", "b")));
        job.add(List.of(end("a", 1, 0, 0, 1)));
        assertThat(job.reached()).isFalse();
        job.add(List.of(end("b", 1, 0, 0, 1)));
        assertThat(job.reached()).isTrue();
    }

    @Test
    void neverEndsWithoutEpochs() {
        JobEnd job = new JobEnd(OptionalLong.empty(), List.of());
        job.add(List.of(end("a", 1, 999, 0, 1)));
        assertThat(job.reached()).isFalse();
    }
}
