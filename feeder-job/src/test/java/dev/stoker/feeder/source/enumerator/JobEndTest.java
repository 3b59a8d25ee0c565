package dev.stoker.feeder.source.enumerator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.feeder.source.split.ConsumerProgress;
import dev.stoker.server.feed.GroupName;
import dev.stoker.server.feed.Identity;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class JobEndTest {

    private static ConsumerProgress progress(String stream, String group, long run, int rank, int world, long epochs) {
        return new ConsumerProgress(new Identity(stream, group, run, rank, world, 0, 1, 0), epochs);
    }

    private static ConsumerProgress train(String group, long run, int rank, int world, long epochs) {
        return progress("train", group, run, rank, world, epochs);
    }

    private static ConsumerProgress worker(int worker, int workers, long epochs) {
        return new ConsumerProgress(new Identity("train", "g", 1, 0, 1, worker, workers, 0), epochs);
    }

    private static ConsumerProgress replica(int replica, long run, long epochs) {
        return new ConsumerProgress(new Identity("train", "g", run, 0, 1, 0, 1, replica), epochs);
    }

    private static JobEnd job(long epochs) {
        return new JobEnd(OptionalLong.of(epochs), List.of());
    }

    @Test
    void waitsForEveryRankOfTheLastEpoch() {
        JobEnd job = job(2);
        assertThat(job.reached()).isFalse();
        job.add(List.of(train("g", 1, 0, 2, 1), train("g", 1, 0, 2, 2)));
        assertThat(job.reached()).as("nothing is known of rank 1").isFalse();
        job.add(List.of(train("g", 1, 1, 2, 1)));
        assertThat(job.reached()).isFalse();
        job.add(List.of(train("g", 1, 1, 2, 2)));
        assertThat(job.reached()).isTrue();
    }

    @Test
    void waitsForEveryWorkerOfARank() {
        JobEnd job = job(2);
        // An earlier iteration had one worker.
        job.add(List.of(worker(0, 1, 1), worker(0, 2, 2)));
        assertThat(job.reached()).isFalse();
        job.add(List.of(worker(1, 2, 2)));
        assertThat(job.reached()).isTrue();
    }

    @Test
    void waitsForASlowGroup() {
        JobEnd job = job(1);
        job.add(List.of(train("fast", 1, 0, 1, 0), train("slow", 1, 0, 1, 0), train("fast", 1, 0, 1, 1)));
        assertThat(job.reached()).isFalse();
        job.add(List.of(train("slow", 1, 0, 1, 1)));
        assertThat(job.reached()).isTrue();
    }

    @Test
    void waitsForEveryReplica() {
        JobEnd job = job(1);
        job.add(List.of(replica(0, 1, 1), replica(1, 1, 0)));
        assertThat(job.reached()).isFalse();
        // Restarted alone, which begins another run: the first replica is not replaced by it.
        job.add(List.of(replica(1, 2, 1)));
        assertThat(job.reached()).isTrue();
    }

    @Test
    void waitsForEveryStreamThatIsRead() {
        JobEnd job = job(1);
        job.add(List.of(progress("val", "g", 1, 0, 1, 1), train("g", 1, 0, 1, 0)));
        assertThat(job.reached()).isFalse();
        job.add(List.of(train("g", 1, 0, 1, 1)));
        assertThat(job.reached()).isTrue();
    }

    @Test
    void knowsThatAStreamIsUnread() {
        List<StreamLanes> streams = List.of(new StreamLanes("train", 1), new StreamLanes("val", 1));
        JobEnd job = job(1);
        job.add(List.of(progress("val", "g", 1, 0, 1, 1)));
        assertThat(job.waitsFor(streams)).isTrue();
        job.add(List.of(train("g", 1, 0, 1, 0)));
        assertThat(job.waitsFor(streams)).isFalse();
        assertThat(new JobEnd(OptionalLong.of(1), List.of(new GroupName("val", "g"))).waitsFor(streams))
                .isFalse();
    }

    @Test
    void countsOnlyTheNewestRun() {
        JobEnd job = job(1);
        job.add(List.of(train("g", 1, 0, 1, 1), train("g", 2, 0, 2, 1)));
        assertThat(job.reached()).isFalse();
        job.add(List.of(train("g", 2, 1, 2, 1)));
        assertThat(job.reached()).isTrue();
        job.add(List.of(train("g", 3, 0, 2, 0)));
        assertThat(job.reached()).as("a newer run begins").isFalse();
    }

    @Test
    void waitsForDeclaredGroupsAlone() {
        JobEnd job = new JobEnd(OptionalLong.of(1), List.of(new GroupName("train", "b")));
        job.add(List.of(train("a", 1, 0, 1, 1)));
        assertThat(job.reached()).isFalse();
        job.add(List.of(train("b", 1, 0, 1, 1), train("c", 1, 0, 1, 0)));
        assertThat(job.reached()).isTrue();
    }

    @Test
    void neverEndsWithoutEpochs() {
        JobEnd job = new JobEnd(OptionalLong.empty(), List.of());
        job.add(List.of(train("a", 1, 0, 1, 999)));
        assertThat(job.reached()).isFalse();
    }

    @Test
    void itsStateIsAsLargeAsThereAreConsumers() {
        JobEnd job = new JobEnd(OptionalLong.empty(), List.of());
        for (long epoch = 0; epoch < 100; epoch++) {
            job.add(List.of(train("a", 1 + epoch / 10, 0, 1, epoch)));
        }
        assertThat(job.progress()).containsExactly(train("a", 10, 0, 1, 99));
    }
}
