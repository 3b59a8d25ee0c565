package dev.stoker.bench.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.bench.report.Roof.Resource;
import dev.stoker.schemas.errors.StokerException;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

class RooflineTest {

    private static Roofline roofline(Measurements.Source... sources) throws StokerException {
        return Roofline.of(Measurements.of(List.of(sources)), OptionalDouble.empty());
    }

    private static double roof(Roofline roofline, Resource resource) {
        return roofline.roofs().stream()
                .filter(roof -> roof.resource() == resource)
                .mapToDouble(Roof::bytesPerSecond)
                .findFirst()
                .orElseThrow();
    }

    @Test
    void eachResourceHasTheRoofThatWasMeasured() throws StokerException {
        Roofline roofline = roofline(Results.storage(1e9, 4e6, 6e9), Results.feed(1e5, 1.5e9, 2e9, 10e9));
        assertThat(roof(roofline, Resource.STORAGE)).isEqualTo(1e9);
        assertThat(roof(roofline, Resource.PAGE_CACHE)).isEqualTo(6e9);
        assertThat(roof(roofline, Resource.NETWORK)).isEqualTo(2e9);
        // Two copies of each byte.
        assertThat(roof(roofline, Resource.MEMORY)).isEqualTo(5e9);
        // Four processors, 0.8 s for each GB.
        assertThat(roof(roofline, Resource.CPU)).isCloseTo(5e9, within(1.0));
        assertThat(roofline.files()).containsEntry(4096.0, 4e6 / 4096).containsEntry(1048576.0, 0.5e9 / 1048576);
    }

    @Test
    void aGivenNetworkReplacesTheLoopback() throws StokerException {
        Measurements findings = Measurements.of(List.of(Results.feed(1e5, 1.5e9, 2e9, 10e9)));
        Roofline roofline = Roofline.of(findings, OptionalDouble.of(1.25e8));
        assertThat(roofline.roofs())
                .filteredOn(roof -> roof.resource() == Resource.NETWORK)
                .singleElement()
                .satisfies(roof -> {
                    assertThat(roof.name()).contains("network of 1 Gbit/s, as given");
                    // Frames and headers are no payload.
                    assertThat(roof.bytesPerSecond()).isCloseTo(1.25e8 / 1.05, within(1.0));
                });
        Verdict verdict = Verdict.of(roofline, roofline.points().get(1));
        assertThat(verdict.text()).contains("The limit is network of 1 Gbit/s", "1260 % of it on the loopback");
        assertThat(verdict.isExplained()).isTrue();
        assertThat(verdict.advice()).contains("faster network");
    }

    @Test
    void theFeederTimeOfTheNearestSizeIsScaledForSmallerSamples() throws StokerException {
        Roofline roofline = roofline(Results.feed(1e5, 1e9, 2e9, 10e9));
        assertThat(roofline.feederSecondsPerGb(1e6)).isEqualTo(0.5);
        assertThat(roofline.feederSecondsPerGb(1e4)).isCloseTo(5, within(1e-9));
        assertThat(roofline(Results.storage(1e9, 4e6, 6e9)).feederSecondsPerGb(1e4))
                .isZero();
    }

    @Test
    void eachRoofWithinTheSpreadMakesTheLimitUncertain() throws StokerException {
        // The loopback is the next roof, without a spread; the memory above it spreads by 200 %.
        Roofline roofline = roofline(Results.storage(1e9, 4e6, 6e9), Results.feed(1e5, 1e9, 1.5e9, 3.4e9));
        List<Roof> noisy = roofline.roofs().stream()
                .map(roof -> roof.resource() == Resource.MEMORY
                        ? new Roof(Resource.MEMORY, roof.name(), roof.bytesPerSecond(), 2)
                        : roof)
                .toList();
        FeedPoint point = roofline.points().get(1);
        assertThat(Verdict.of(roofline, point).isCertain()).isTrue();
        assertThat(Verdict.of(new Roofline(noisy, roofline.points(), roofline.files()), point)
                        .isCertain())
                .isFalse();
    }

    @Test
    void aFirstEpochHasTheProcessorTimeOfItsOwnDataset() throws StokerException {
        Results.Cpu costly = new Results.Cpu(3, 5);
        Roofline roofline = roofline(Results.feed(1e5, 1e9, 2e9, 10e9), Results.feed(100, 1e8, 2e9, 10e9, costly));
        FeedPoint small = roofline.points().get(2);
        assertThat(small.isFirstEpoch()).isTrue();
        // Four processors, 8 s for each GB.
        assertThat(Roof.lowest(roofline.over(small)).orElseThrow().bytesPerSecond())
                .isEqualTo(5e8);
    }

    @Test
    void theSpreadOfProcessorsIsThatOfBothEndsAndOfTheTransport() throws StokerException {
        Measurements.Source feed = Results.feed(1e5, 1.5e9, 2e9, 10e9);
        ObjectNode tcp = (ObjectNode) feed.json().at("/systems/1");
        ObjectNode unix = tcp.deepCopy().put("transport", "unix");
        ((ArrayNode) feed.json().path("systems")).add(unix);
        // The consumer is even; the feeder needs 0.1, 0.5 and 1.2 s for each GB.
        ((ObjectNode) unix.path("sender_cpu_s_per_gb"))
                .putArray("rounds")
                .add(0.1)
                .add(0.5)
                .add(1.2);
        Roofline roofline = roofline(feed);
        assertThat(processors(roofline, 1).spread()).isZero();
        assertThat(processors(roofline, 2).spread()).isCloseTo(1.1 / 0.8, within(1e-9));
        assertThat(processors(roofline, 2).name()).endsWith("over unix");
        assertThat(Verdict.of(roofline, roofline.points().get(2)).text()).contains("The rounds spread by 138 %");
    }

    private static Roof processors(Roofline roofline, int point) {
        return roofline.over(roofline.points().get(point)).stream()
                .filter(roof -> roof.resource() == Resource.CPU)
                .findFirst()
                .orElseThrow();
    }

    @Test
    void noisyRoundsAreToldBesideTheShare() {
        Roof roof = new Roof(Resource.NETWORK, "loopback", 1e9, 0.1);
        FeedPoint point = new FeedPoint("photos, tcp", "tcp", false, 1e5, 8_000, 0.7, List.of(), 0);
        Verdict verdict = Verdict.of(new Roofline(List.of(roof), List.of(point), Map.of()), point);
        assertThat(verdict.text()).contains("reaches 80 % of it.", "The rounds spread by 70 %");
    }

    @Test
    void theFirstEpochIsBelowTheStorageAndALaterOneIsNot() throws StokerException {
        Roofline roofline = roofline(Results.storage(1e9, 4e6, 6e9), Results.feed(1e5, 1.5e9, 2e9, 10e9));
        List<Verdict> verdicts = roofline.points().stream()
                .map(point -> Verdict.of(roofline, point))
                .toList();
        assertThat(verdicts.get(0).point().isFirstEpoch()).isTrue();
        assertThat(verdicts.get(0).limit()).map(Roof::resource).contains(Resource.STORAGE);
        assertThat(verdicts.get(0).share()).isCloseTo(0.75, within(1e-9));
        assertThat(verdicts.get(0).advice()).contains("--tier");
        assertThat(verdicts.get(1).limit()).map(Roof::resource).contains(Resource.NETWORK);
        assertThat(verdicts.get(1).text()).contains("The limit is loopback", "75 %");
    }

    @Test
    void theFirstEpochOfAFeedThatRanBeforeHasNoRoofOfTheStorage() throws StokerException {
        Measurements.Source feed = Results.feed(1e5, 1.5e9, 2e9, 10e9);
        ((ObjectNode) feed.json().path("first_epoch")).remove("feeder_start_s");
        Roofline roofline = roofline(Results.storage(1e8, 4e6, 6e9), feed);
        FeedPoint first = roofline.points().get(0);
        assertThat(first.name()).isEqualTo("photos, first epoch of this measurement, tcp");
        assertThat(roofline.over(first)).extracting(Roof::resource).doesNotContain(Resource.STORAGE);
    }

    @Test
    void aFeedHasTheRoofOfTheStorageThatHasItsDataset() throws StokerException {
        Measurements.Source slow = at(Results.storage(1e8, 4e6, 6e9), "s3a://bucket/");
        Measurements.Source fast = at(Results.storage(3e9, 4e6, 6e9), "./scratch");
        Measurements.Source feed = at(Results.feed(1e5, 1.5e9, 2e9, 10e9), "photos=s3://bucket/photos@3");
        Roofline roofline = roofline(slow, fast, feed);
        assertThat(roofline.roofs())
                .filteredOn(roof -> roof.resource() == Resource.STORAGE)
                .extracting(Roof::bytesPerSecond)
                .containsExactly(1e8, 3e9);
        assertThat(storages(roofline)).containsExactly(1e8);
        assertThat(storages(roofline(slow, fast, at(feed, "./scratch/photos")))).containsExactly(3e9);
        // It is unknown which one has it.
        assertThat(storages(roofline(slow, fast, at(feed, "s3a://bucket2/photos"))))
                .containsExactly(1e8, 3e9);
        assertThat(storages(roofline(slow, at(feed, "s3a://bucket2/photos")))).containsExactly(1e8);
        assertThat(roofline.over(roofline.points().get(0)))
                .extracting(Roof::name)
                .anyMatch(name -> name.startsWith("storage s3a://bucket/, sequential reads"));
    }

    private static Measurements.Source at(Measurements.Source result, String target) {
        return new Measurements.Source(
                result.name(), ((ObjectNode) result.json().deepCopy()).put("target", target));
    }

    private static List<Double> storages(Roofline roofline) {
        return roofline.over(roofline.points().get(0)).stream()
                .filter(roof -> roof.resource() == Resource.STORAGE)
                .map(Roof::bytesPerSecond)
                .toList();
    }

    @Test
    void aLaterEpochHasTheRoofOfTheStorageForTheBytesThatMemoryCannotKeep() throws StokerException {
        // A dataset of 100 MB.
        Measurements.Source feed = Results.feed(1e5, 1.3e8, 2e9, 10e9);
        ObjectNode json = (ObjectNode) feed.json();
        Measurements.Source storage = Results.storage(1e8, 4e6, 6e9);
        json.put("kept_bytes", 25_000_000);
        Roofline partly = roofline(storage, feed);
        Verdict verdict = Verdict.of(partly, partly.points().get(1));
        assertThat(verdict.limit()).map(Roof::resource).contains(Resource.STORAGE);
        assertThat(verdict.share()).isCloseTo(1.3e8 / (1e8 / 0.75), within(1e-9));
        assertThat(verdict.text()).contains("for the 75 % of the bytes that memory cannot keep (133 MB/s)");
        assertThat(verdict.advice()).contains("--tier");
        json.put("kept_bytes", 100_000_000);
        Roofline kept = roofline(storage, feed);
        assertThat(kept.over(kept.points().get(1))).extracting(Roof::resource).doesNotContain(Resource.STORAGE);
    }

    @Test
    void resultsOfDifferentMachinesHaveANote() throws StokerException {
        Measurements.Source storage = Results.storage(1e9, 4e6, 6e9);
        Measurements.Source feed = Results.feed(1e5, 1.5e9, 2e9, 10e9);
        assertThat(Measurements.of(List.of(storage, feed, Results.demand(1))).note())
                .isEmpty();
        ((ObjectNode) storage.json().path("machine")).put("processors", 2);
        assertThat(Measurements.of(List.of(storage, feed)).note())
                .hasValueSatisfying(note -> assertThat(note)
                        .contains("different machines (2 processors, m, Linux; 4 processors, m, Linux)"));
    }

    @Test
    void roofsWithinTheSpreadAreNotToldApart() throws StokerException {
        // The rounds of the storage spread by 20 %; the loopback is 10 % higher.
        Roofline roofline = roofline(Results.storage(1e9, 4e6, 6e9), Results.feed(1e5, 1e9, 1.1e9, 10e9));
        List<Roof> roofs = roofline.over(roofline.points().get(0));
        FeedPoint point = new FeedPoint("photos", "tcp", true, 1e5, 9_000, 0, roofs, 0);
        Verdict verdict = Verdict.of(new Roofline(List.of(), List.of(point), Map.of()), point);
        assertThat(verdict.isCertain()).isFalse();
        assertThat(verdict.text()).contains("within the spread");
    }

    @Test
    void oneRoundIsNotCertain() throws StokerException {
        Measurements.Source feed = Results.feed(1e5, 1.5e9, 2e9, 10e9);
        Roofline roofline = roofline(feed);
        // A first epoch is measured once.
        Verdict first = Verdict.of(roofline, roofline.points().get(0));
        assertThat(first.isCertain()).isFalse();
        assertThat(first.text())
                .contains("The spread is unknown", "measure again")
                .doesNotContain("within the spread");
        assertThat(Verdict.of(roofline, roofline.points().get(1)).isCertain()).isTrue();

        ObjectNode copy = (ObjectNode) feed.json().path("memory_copy_bytes_per_s");
        copy.putArray("rounds").add(10e9);
        Roofline once = roofline(feed);
        Verdict later = Verdict.of(once, once.points().get(1));
        assertThat(later.isCertain()).isFalse();
        assertThat(later.text()).contains("The spread is unknown");
    }

    @Test
    void aFirstEpochThatIsNotCompleteSaysSo() throws StokerException {
        Measurements.Source feed = Results.feed(1e5, 1.5e9, 2e9, 10e9);
        ((ObjectNode) feed.json().path("first_epoch")).put("complete", false);
        assertThat(roofline(feed).points().get(0).name()).isEqualTo("photos, first epoch (not complete), tcp");
    }

    @Test
    void aFeedFarBelowOrAboveItsRoofsIsExplained() throws StokerException {
        Roofline slow = roofline(Results.feed(4096, 2e8, 2e9, 10e9));
        Verdict far = Verdict.of(slow, slow.points().get(1));
        assertThat(far.text())
                .contains(
                        "No measured resource is the limit",
                        "10 % of its lowest roof, loopback, plain stream over TCP (2.00 GB/s)");
        assertThat(far.isExplained()).isFalse();
        assertThat(far.advice()).contains("small sample is the limit");
        Roofline cached = roofline(Results.storage(1e8, 4e6, 6e9), Results.feed(1e5, 1.5e9, 2e9, 10e9));
        Verdict fromCache = Verdict.of(cached, cached.points().get(0));
        assertThat(fromCache.text()).contains("the feed was faster", "page cache, or in a cache of the store");
        assertThat(fromCache.advice()).startsWith("Measure a larger dataset");
        Roofline slowLoopback = roofline(Results.feed(1e5, 1.5e9, 1e9, 10e9));
        Verdict above = Verdict.of(slowLoopback, slowLoopback.points().get(1));
        assertThat(above.text()).contains("the feed was faster").doesNotContain("page cache");
        assertThat(above.advice()).isEqualTo("Measure again on an idle machine.");
    }

    @Test
    void theCapacityForOtherSizesIsLimitedByBytesAndBySamples() throws StokerException {
        Roofline roofline = roofline(Results.feed(1e5, 1e9, 2e9, 10e9));
        assertThat(roofline.capacity(1e5)).hasValueCloseTo(10_000.0, within(1e-6));
        assertThat(roofline.capacity(1e6)).hasValueCloseTo(1_000.0, within(1e-6));
        assertThat(roofline.capacity(1e3)).hasValueCloseTo(10_000.0, within(1e-6));
        assertThat(roofline(Results.storage(1e9, 4e6, 6e9)).capacity(1e5)).isEmpty();
    }

    @Test
    void otherFilesAreRefused() {
        Measurements.Source newer = new Measurements.Source(
                "new.json", ((ObjectNode) Results.demand(1).json()).put("format", 2));
        assertThatThrownBy(() -> roofline(newer)).hasMessageContaining("new.json has format 2");
        Measurements.Source foreign =
                new Measurements.Source("x.json", Results.demand(1).json().path("runs"));
        assertThatThrownBy(() -> roofline(foreign)).hasMessageContaining("x.json is not a result");
    }

    @Test
    void aDamagedResultNamesItsFileAndTheValue() {
        Measurements.Source storage = Results.storage(1e9, 4e6, 6e9);
        ((ObjectNode) storage.json().at("/reads/2")).remove("bytes_per_s");
        assertThatThrownBy(() -> roofline(storage))
                .isInstanceOf(StokerException.class)
                .hasMessage("storage.json is damaged: bytes_per_s: a measurement without a round; repeat the"
                        + " measurement");
        Measurements.Source feed = Results.feed(1e5, 1.5e9, 2e9, 10e9);
        ((ObjectNode) feed.json().at("/systems/1/sender_cpu_s_per_gb"))
                .putArray("rounds")
                .add("fast");
        assertThatThrownBy(() -> roofline(feed))
                .hasMessageContaining("feed.json is damaged: sender_cpu_s_per_gb: the round \"fast\" is not a number");
        Measurements.Source empty = Results.feed(1e5, 1.5e9, 2e9, 10e9);
        ((ObjectNode) empty.json()).put("sample_bytes", 0);
        assertThatThrownBy(() -> roofline(empty))
                .hasMessageContaining("feed.json is damaged: sample_bytes is 0, not positive");
        Measurements.Source demand = Results.demand(1);
        ((ObjectNode) demand.json().at("/shapes/0")).put("batch_size", 0);
        assertThatThrownBy(() -> roofline(demand)).hasMessageContaining("demand.json is damaged: ");
    }
}
