package dev.stoker.server.session.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.parts.Caller;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import dev.stoker.schemas.protocol.parts.Instance;
import dev.stoker.schemas.protocol.parts.Launch;
import dev.stoker.server.session.Pulse;
import dev.stoker.server.session.group.Places.Claim;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The rules of docs/formats/feed-protocol.md, "Places". */
class PlacesTest {
    private static final long NOW = 1_000;

    private final Places places = new Places("group g");
    private Claim lastClaim;
    private Fake lastSession;

    private static final class Fake implements Membership.Occupant {
        boolean silent;
        int asked;

        @Override
        public void ask() {
            asked++;
        }

        @Override
        public boolean isSilent() {
            return silent;
        }

        @Override
        public void end(ErrorCode code, String why) {}
    }

    private record Who(long process, Optional<Launch> launch) {
        Caller caller(long joined) {
            return new Caller(joined, 0, false, Optional.of(new Instance("b", process, 1, "host-" + process)), launch);
        }
    }

    private static Who process(long pid) {
        return new Who(pid, Optional.empty());
    }

    private static Who launched(long pid, String id, int restarts) {
        return new Who(pid, Optional.of(new Launch("l", id, restarts)));
    }

    private static Claim claim(Who who, int rank, int world, int worker, int workers, long run, long joined) {
        return new Claim(
                new Claim.Seat(rank, worker, 0), run, world, workers, who.caller(joined), Claim.Trust.OPEN, "test");
    }

    private static Claim claim(Who who, int rank, int world) {
        return claim(who, rank, world, 0, 1, 0, 0);
    }

    private Places.Given admit(Claim claim) throws ProtocolException {
        lastClaim = claim;
        lastSession = new Fake();
        return places.admit(claim, lastSession, NOW);
    }

    /** Admitted and subscribed. */
    private long reads(Claim claim) throws ProtocolException {
        long run = admit(claim).run();
        places.settle(claim, lastSession);
        return run;
    }

    private void refused(Claim claim, ErrorCode code) {
        assertThatThrownBy(() -> places.check(claim))
                .isInstanceOfSatisfying(
                        ProtocolException.class, e -> assertThat(e.code()).isEqualTo(code));
        assertThatThrownBy(() -> admit(claim)).isInstanceOf(ProtocolException.class);
    }

    @Test
    void ranksOfAJobShareARunThatIsDrawnFromTheClock() throws Exception {
        assertThat(reads(claim(process(1), 0, 3))).isEqualTo(NOW);
        assertThat(admit(claim(process(2), 1, 3)).run()).as("not settled yet").isEqualTo(NOW);
        assertThat(reads(claim(process(3), 2, 3))).isEqualTo(NOW);
    }

    @Test
    void liveSessionOfAnotherProcessKeepsItsPlace() throws Exception {
        admit(claim(process(1), 0, 2));
        refused(claim(process(2), 0, 2), ErrorCode.PLACE_TAKEN);
        refused(claim(process(2), 1, 3), ErrorCode.PLACE_TAKEN);
        refused(claim(process(2), 0, 1), ErrorCode.PLACE_TAKEN);
        assertThat(lastSession.asked).isZero();
        assertThat(admit(claim(process(2), 1, 2)).displaced()).isEmpty();
    }

    @Test
    void aRankIsNotDividedAmongAnotherNumberOfWorkers() throws Exception {
        reads(claim(process(1), 0, 1, 0, 2, 0, 0));
        reads(claim(process(1), 0, 1, 1, 2, 0, 0));
        refused(claim(process(2), 0, 1, 2, 4, 0, 0), ErrorCode.PLACE_TAKEN);
        assertThat(admit(claim(process(1), 0, 1, 2, 4, 0, 0)).displaced()).hasSize(2);
    }

    @Test
    void anotherJobIsKnownByItsLaunch() throws Exception {
        reads(claim(launched(1, "a", 0), 0, 2));
        refused(claim(launched(2, "b", 5), 1, 2), ErrorCode.PLACE_TAKEN);
        assertThat(admit(claim(launched(2, "a", 0), 1, 2)).displaced()).isEmpty();
        refused(claim(process(3), 1, 2), ErrorCode.PLACE_TAKEN);
    }

    @Test
    void laterStartTakesThePlaceAndOnlyThat() throws Exception {
        long run = reads(claim(launched(1, "a", 0), 0, 2));
        Fake old = lastSession;
        reads(claim(launched(2, "a", 0), 1, 2));
        refused(claim(launched(3, "a", 0), 0, 2), ErrorCode.PLACE_TAKEN);
        Places.Given given = admit(claim(launched(3, "a", 1), 0, 2));
        assertThat(given.displaced()).containsExactly(old);
        assertThat(given.run()).isGreaterThan(run);
        places.settle(lastClaim, lastSession);
        refused(claim(launched(1, "a", 0), 0, 2, 0, 1, 0, run), ErrorCode.FENCED);
        // On another node of the same job, the launcher counts its own restarts.
        assertThat(admit(claim(launched(4, "a", 1), 1, 2)).run()).isEqualTo(given.run());
    }

    @Test
    void laterStartMayHaveAnotherWorldSizeIfAllThatLivesIsOfTheEarlierOne() throws Exception {
        reads(claim(launched(1, "a", 0), 0, 2));
        reads(claim(launched(2, "a", 1), 1, 2));
        refused(claim(launched(3, "a", 1), 0, 1), ErrorCode.PLACE_TAKEN);
        assertThat(admit(claim(launched(3, "a", 2), 0, 1)).displaced()).hasSize(2);
    }

    @Test
    void newNodeOfARestartedJobWithoutContestJoinsTheRun() throws Exception {
        long run = reads(claim(launched(1, "a", 0), 0, 2));
        reads(claim(launched(2, "a", 0), 1, 2));
        places.leave(lastClaim.seat(), lastSession);
        assertThat(reads(claim(launched(3, "a", 1), 1, 2))).isEqualTo(run);
    }

    @Test
    void greaterRunOfTheUserWinsAndSmallerOnesAreOver() throws Exception {
        reads(claim(process(1), 0, 2, 0, 1, 5, 0));
        reads(claim(process(2), 1, 2, 0, 1, 5, 0));
        Places.Given given = admit(claim(process(3), 0, 1, 0, 1, 6, 0));
        assertThat(given.run()).isEqualTo(6);
        assertThat(given.displaced()).hasSize(2);
        refused(claim(process(2), 1, 2, 0, 1, 5, 5), ErrorCode.FENCED);
        refused(claim(process(4), 1, 2, 0, 1, 6, 0), ErrorCode.WORLD_SIZE_MISMATCH);
        refused(claim(process(4), 0, 1, 0, 1, 6, 0), ErrorCode.PLACE_TAKEN);
    }

    @Test
    void runThatAnotherFeederDrewTakesNoPlace() throws Exception {
        long run = reads(claim(process(1), 0, 2));
        refused(claim(process(2), 0, 2, 0, 1, 0, run + 50), ErrorCode.PLACE_TAKEN);
        refused(claim(process(2), 1, 3, 0, 1, 0, run + 50), ErrorCode.PLACE_TAKEN);
        Places.Given given = admit(claim(process(2), 1, 2, 0, 1, 0, run + 50));
        assertThat(given.displaced()).isEmpty();
        assertThat(given.run()).as("it may have settled at the other feeder").isEqualTo(run + 50);
        places.settle(lastClaim, lastSession);
        assertThat(admit(claim(process(1), 0, 2, 0, 1, 0, run)).run())
                .as("a reconnect of the holder")
                .isEqualTo(run);
    }

    @Test
    void whatWasAdmittedAndNeverSubscribedFencesNobody() throws Exception {
        Claim newcomer = claim(process(2), 0, 1);
        long drawn = admit(newcomer).run();
        places.leave(newcomer.seat(), lastSession);
        assertThat(places.run()).isZero();
        assertThat(admit(claim(process(1), 0, 4, 0, 1, 0, drawn - 1)).run()).isEqualTo(drawn - 1);
    }

    @Test
    void ownProcessGoesOnInItsRun() throws Exception {
        long run = reads(claim(process(1), 0, 1));
        Fake old = lastSession;
        Places.Given again = admit(claim(process(1), 0, 1));
        assertThat(again.displaced()).containsExactly(old);
        assertThat(again.run()).isEqualTo(run);
        places.leave(lastClaim.seat(), old);
        assertThat(places.run()).as("the old session's end changes nothing").isEqualTo(run);
        refused(claim(process(2), 0, 1), ErrorCode.PLACE_TAKEN);
    }

    @Test
    void laterHelloOfAProcessWinsInWhateverOrderTheyAreRead() throws Exception {
        Claim earlier = sentAt(100, claim(process(1), 0, 1));
        Claim later = sentAt(101, claim(process(1), 0, 1));
        reads(later);
        assertThatThrownBy(() -> admit(earlier))
                .isInstanceOfSatisfying(
                        ProtocolException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.FENCED))
                .hasMessageContaining("later connection of process 1");
        assertThat(admit(sentAt(102, later)).displaced()).as("a reconnect").hasSize(1);
        assertThat(admit(sentAt(0, later)).displaced()).as("does not say").hasSize(1);
    }

    private static Claim sentAt(long nanos, Claim claim) {
        return new Claim(
                claim.seat(),
                claim.run(),
                claim.worldSize(),
                claim.workers(),
                claim.caller().sentAt(nanos),
                claim.trust(),
                claim.client());
    }

    @Test
    void ownProcessMayChangeItsWorldSizeOnlyIfNobodyElseIsThere() throws Exception {
        long run = reads(claim(process(1), 0, 2));
        places.settle(lastClaim, lastSession);
        Places.Given two = admit(claim(process(1), 0, 3));
        assertThat(two.run()).isGreaterThan(run);
        assertThat(two.displaced()).hasSize(1);
        places.settle(lastClaim, lastSession);
        reads(claim(process(2), 1, 3));
        refused(claim(process(1), 0, 1), ErrorCode.PLACE_TAKEN);
    }

    @Test
    void otherClientOfTheSameProcessIsNotFencedByItsOwnNewerRun() throws Exception {
        long run = reads(claim(process(1), 0, 1));
        long newer = reads(claim(process(1), 0, 1, 0, 2, 0, 0));
        assertThat(newer).isGreaterThan(run);
        assertThat(admit(claim(process(1), 0, 1, 0, 1, 0, run)).run()).isGreaterThanOrEqualTo(newer);
    }

    @Test
    void nextLaunchBeginsARunOnceTheLastHasEnded() throws Exception {
        long run = reads(claim(process(1), 0, 1));
        places.leave(lastClaim.seat(), lastSession);
        assertThat(reads(claim(process(2), 0, 1))).isGreaterThan(run);
        refused(claim(process(1), 0, 1, 0, 1, 0, run), ErrorCode.FENCED);
    }

    @Test
    void silentMachineLosesItsPlace() throws Exception {
        reads(claim(process(1), 0, 1));
        Fake old = lastSession;
        refused(claim(process(2), 0, 1), ErrorCode.PLACE_TAKEN);
        assertThat(old.asked).isPositive();
        old.silent = true;
        assertThat(admit(claim(process(2), 0, 1)).displaced()).containsExactly(old);
    }

    @Test
    void processThatDoesNotNameItselfIsNobodyElse() throws Exception {
        Claim unknown = new Claim(new Claim.Seat(0, 0, 0), 0, 1, 1, Caller.UNKNOWN, Claim.Trust.OPEN, "old/1");
        reads(unknown);
        refused(unknown, ErrorCode.PLACE_TAKEN);
    }

    private static Claim trusted(Claim claim, boolean administers, String token) {
        return new Claim(
                claim.seat(),
                claim.run(),
                claim.worldSize(),
                claim.workers(),
                claim.caller(),
                new Claim.Trust(administers, token),
                claim.client());
    }

    /** A process, a launcher and a job can be known to others, and a client names them itself. */
    @Test
    void onlyHoldersOfOneTokenAndAdministratorsMaySpeakForAProcessOrAJob() throws Exception {
        Claim holder = claim(launched(1, "job-7", 0), 0, 1);
        Claim restarted = claim(launched(2, "job-7", 1), 0, 1);
        Claim named = claim(launched(1, "job-7", 0), 0, 1, 0, 1, Long.MAX_VALUE >> 1, 0);
        reads(trusted(holder, false, "a"));
        Fake first = lastSession;
        refused(trusted(holder, false, "b"), ErrorCode.PLACE_TAKEN);
        refused(trusted(restarted, false, "b"), ErrorCode.PLACE_TAKEN);
        refused(trusted(restarted, false, ""), ErrorCode.PLACE_TAKEN);
        assertThat(places.isDisplacing(trusted(named, false, "b"))).isTrue();
        assertThat(places.isDisplacing(trusted(named, false, "a")))
                .as("a process of its own")
                .isFalse();
        assertThat(admit(trusted(holder, false, "a")).displaced()).containsExactly(first);
        Fake second = lastSession;
        assertThat(admit(trusted(restarted, false, "a")).displaced()).containsExactly(second);
        Fake third = lastSession;
        assertThat(admit(trusted(claim(launched(3, "job-7", 2), 0, 1), true, "b"))
                        .displaced())
                .containsExactly(third);
    }

    @Test
    void greatestRunLeavesRoomForTheNext() throws Exception {
        reads(claim(process(1), 0, 1, 0, 1, 1L << 62, 0));
        places.leave(lastClaim.seat(), lastSession);
        assertThat(reads(claim(process(2), 0, 1))).isEqualTo((1L << 62) + 1);
    }

    @Test
    void peerIsSilentOnlyIfItWasAskedAndOwesTheAnswerForLong() {
        long[] now = {0};
        Pulse pulse = new Pulse(() -> now[0]);
        now[0] = Pulse.LIMIT.toNanos() * 5;
        assertThat(pulse.isSilent()).as("no question was sent").isFalse();
        assertThat(pulse.ask()).isTrue();
        assertThat(pulse.ask()).as("once is enough").isFalse();
        now[0] += Pulse.LIMIT.toNanos();
        assertThat(pulse.isSilent()).isFalse();
        now[0] += 1;
        assertThat(pulse.isSilent()).isTrue();
        pulse.heard();
        assertThat(pulse.isSilent()).isFalse();
        assertThat(pulse.ask()).isTrue();
    }

    @Test
    void aGreaterRunThatAnotherNodeAdmittedFirstWinsHereToo() throws ProtocolException {
        reads(claim(process(1), 0, 2, 0, 1, 10, 0));
        Fake rank0 = lastSession;
        reads(claim(process(2), 1, 2, 0, 1, 10, 0));
        Fake rank1 = lastSession;
        places.learn(20, 2);
        Claim newcomer = claim(process(3), 0, 2, 0, 1, 20, 0);
        assertThat(places.isDisplacing(newcomer)).isTrue();
        Places.Given given = admit(newcomer);
        assertThat(given.run()).isEqualTo(20);
        assertThat(given.displaced()).containsExactlyInAnyOrder(rank0, rank1);
        // Within the run the first process keeps its place.
        refused(claim(process(4), 0, 2, 0, 1, 20, 0), ErrorCode.PLACE_TAKEN);
    }

    @Test
    void aRunThatWasDrawnForASessionThatReadsNothingFencesNobody() throws ProtocolException {
        // A restarted feeder does not know the trainers that read from other feeders.
        Claim newcomer = claim(process(1), 0, 2);
        assertThat(admit(newcomer).run()).isEqualTo(NOW);
        Fake first = lastSession;
        Claim trainer = claim(process(2), 0, 2, 0, 1, 7, 0);
        refused(trainer, ErrorCode.PLACE_TAKEN);
        refused(claim(process(3), 1, 2, 0, 1, 7, 0), ErrorCode.PLACE_TAKEN);
        places.leave(newcomer.seat(), first);
        assertThat(reads(trainer)).isEqualTo(7);
    }

    @Test
    void aRunThatWasDrawnFencesSmallerOnesOnceItsSessionReads() throws ProtocolException {
        assertThat(reads(claim(process(1), 0, 2))).isEqualTo(NOW);
        refused(claim(process(2), 1, 2, 0, 1, 7, 0), ErrorCode.FENCED);
    }
}
