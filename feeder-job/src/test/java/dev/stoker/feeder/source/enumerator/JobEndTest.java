package dev.stoker.feeder.source.enumerator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.feeder.source.split.ConsumerProgress;
import dev.stoker.schemas.testing.Rounds;
import dev.stoker.server.feed.GroupName;
import dev.stoker.server.feed.Identity;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

class JobEndTest {

    private static ConsumerProgress progress(String stream, String group, long run, int rank, int world, long epochs) {
        return new ConsumerProgress(new Identity(stream, group, run, rank, world, 0, 1, 0), epochs);
    }

    private static ConsumerProgress train(String group, long run, int rank, int world, long epochs) {
        return progress("train", group, run, rank, world, epochs);
    }

    private static ConsumerProgress worker(int worker, int workers, long epochs) {
        return worker(1, worker, workers, epochs);
    }

    private static ConsumerProgress worker(long run, int worker, int workers, long epochs) {
        return new ConsumerProgress(new Identity("train", "g", run, 0, 1, worker, workers, 0), epochs);
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
    void aNewerRunReplacesTheRanksThatItHas() {
        JobEnd job = job(1);
        job.add(List.of(train("g", 1, 0, 1, 1), train("g", 2, 0, 2, 1)));
        assertThat(job.reached()).isFalse();
        job.add(List.of(train("g", 2, 1, 2, 1)));
        assertThat(job.reached()).isTrue();
        job.add(List.of(train("g", 3, 0, 2, 0)));
        assertThat(job.reached()).as("a newer run begins").isFalse();
    }

    /** A trainer died with the feeder and began a new run. The other trainers stayed in the old run. */
    @Test
    void ranksMayFinishInDifferentRuns() {
        JobEnd job = job(2);
        job.add(List.of(train("g", 1, 0, 3, 1), train("g", 2, 1, 3, 0), train("g", 1, 2, 3, 2)));
        assertThat(job.reached()).isFalse();
        job.add(List.of(train("g", 2, 1, 3, 2)));
        assertThat(job.reached()).as("rank 0 still reads in the older run").isFalse();
        job.add(List.of(train("g", 1, 0, 3, 2)));
        assertThat(job.reached()).isTrue();
        assertThat(job.isSpread()).as("no run has all ranks").isTrue();
        job.add(List.of(train("g", 2, 0, 3, 0)));
        assertThat(job.reached()).as("rank 0 reads again in the newer run").isFalse();
        job.add(List.of(train("g", 2, 0, 3, 2)));
        assertThat(job.reached()).isTrue();
        job.add(List.of(train("g", 2, 2, 3, 2)));
        assertThat(job.isSpread()).isFalse();
    }

    @Test
    void aRankOfAnotherWorldSizeIsOfAReplacedRun() {
        JobEnd job = job(1);
        job.add(List.of(
                train("g", 1, 0, 2, 1), train("g", 1, 1, 2, 1), train("g", 2, 0, 3, 1), train("g", 2, 2, 3, 1)));
        assertThat(job.reached()).as("rank 1 of 3 was never here").isFalse();
        job.add(List.of(train("g", 3, 0, 1, 1)));
        assertThat(job.reached()).as("one rank is the whole world").isTrue();
        assertThat(job.isSpread()).isFalse();
    }

    @Test
    void workersOfARankMayFinishInDifferentRuns() {
        JobEnd job = job(1);
        job.add(List.of(worker(1, 0, 2, 1), worker(2, 1, 2, 0)));
        assertThat(job.reached()).isFalse();
        job.add(List.of(worker(2, 1, 2, 1)));
        assertThat(job.reached()).isTrue();
        assertThat(job.isSpread()).isTrue();
    }

    @Test
    void aRankThatBeganAgainWithOtherWorkersHasNotFinished() {
        JobEnd job = job(1);
        job.add(List.of(worker(1, 0, 2, 1), worker(1, 1, 2, 1)));
        assertThat(job.reached()).isTrue();
        // Workers 0 and 1 have not come yet.
        job.add(List.of(worker(2, 2, 3, 1)));
        assertThat(job.reached()).isFalse();
        job.add(List.of(worker(2, 0, 3, 1), worker(2, 1, 3, 1)));
        assertThat(job.reached()).isTrue();
        job.add(List.of(worker(3, 0, 1, 1)));
        assertThat(job.reached()).as("one worker is the whole rank").isTrue();
        assertThat(job.isSpread()).isFalse();
    }

    /** Three launches of three ranks, in any order, against a model that keeps the newest launch of each rank. */
    @Test
    void endsIfTheNewestLaunchOfEachRankHasFinished(TestInfo test) {
        Rounds.of(test).seconds(0.5).atLeast(500).run((random, round) -> {
            JobEnd job = job(1);
            Map<Integer, ConsumerProgress> newest = new HashMap<>();
            for (int event = 0; event < 8; event++) {
                ConsumerProgress next = train("g", 1 + random.nextInt(3), random.nextInt(3), 3, random.nextInt(2));
                job.add(List.of(next));
                newest.merge(next.consumer().rank(), next, (a, b) -> age(a) > age(b) ? a : b);
                boolean all = newest.size() == 3 && newest.values().stream().allMatch(known -> known.epochs() == 1);
                long runs = newest.values().stream()
                        .map(known -> known.consumer().run())
                        .distinct()
                        .count();
                assertThat(job.reached()).isEqualTo(all);
                assertThat(job.isSpread()).isEqualTo(all && runs > 1);
            }
        });
    }

    private static long age(ConsumerProgress known) {
        return 2 * known.consumer().run() + known.epochs();
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
