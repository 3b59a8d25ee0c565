package dev.stoker.metadata.audit;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.ExpiredVersionException;
import dev.stoker.metadata.UnknownSplitException;
import dev.stoker.metadata.UnknownVersionException;
import dev.stoker.metadata.audit.report.Finding;
import dev.stoker.metadata.audit.report.Findings;
import dev.stoker.schemas.batch.View;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.ledger.Consumer;
import dev.stoker.schemas.ledger.LedgerRecord;
import dev.stoker.schemas.ledger.Receipts;
import dev.stoker.schemas.ledger.Source;
import dev.stoker.schemas.ledger.Subscription;
import dev.stoker.schemas.order.delivery.SkipList;
import dev.stoker.schemas.order.delivery.SkippedBatches;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.text.Units;
import java.io.IOException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Reads a ledger for the first time: collects the assigned numbers, checks them against the datasets, and counts the
 * receipts.
 */
final class Survey {

    /** A stream, or the reason why it cannot be opened. */
    private record Opened(
            @Nullable AuditedStream stream, @Nullable String problem) {
        AuditedStream required() {
            return Objects.requireNonNull(stream, "a source without a problem has a stream");
        }
    }

    private final List<Dataset> datasets;
    private final Optional<UUID> feed;
    private final Follows follows;
    private final Findings findings;
    private final Reads reads;
    private final Map<Source, Opened> sources = new HashMap<>();
    private final Map<PassKey, PassState> passes = new LinkedHashMap<>();
    private final Map<PassKey, TreeMap<Long, Long>> receiptCounts = new LinkedHashMap<>();
    private final Map<Consumer, Long> lastEpochs = new HashMap<>();
    /** Number of receipts of each fingerprint in an epoch, for passes that follow their dataset. */
    private final Map<Followed, Long> followed = new LinkedHashMap<>();

    private record Followed(PassKey pass, long epoch, String fingerprint) {}

    long records;
    long receipts;

    Survey(List<Dataset> datasets, Optional<UUID> feed, Follows follows, Findings findings, Reads reads) {
        this.datasets = datasets;
        this.feed = feed;
        this.follows = follows;
        this.findings = findings;
        this.reads = reads;
    }

    void visit(LedgerRecord entry) throws IOException {
        records++;
        if (entry instanceof Subscription subscription) {
            take(subscription);
        } else if (entry instanceof Receipts batch) {
            long count = batch.entries().size();
            receipts += count;
            Consumer part = follows.part(batch.consumer());
            PassKey pass = PassKey.of(part);
            receiptCounts.computeIfAbsent(pass, k -> new TreeMap<>()).merge(batch.epoch(), count, Long::sum);
            if (count > 0) {
                lastEpochs.merge(part, batch.epoch(), Math::max);
            }
            if (Follows.follows(part)) {
                followed.merge(
                        new Followed(pass, batch.epoch(), batch.consumer().fingerprint()), count, Long::sum);
            }
        }
    }

    /** Returns the passes that have a subscription. Call this after the last record. */
    Map<PassKey, PassState> passes() {
        receiptCounts.forEach((key, epochs) -> {
            PassState pass = passes.get(key);
            if (pass == null) {
                long count = epochs.values().stream().mapToLong(Long::longValue).sum();
                findings.add(
                        Finding.Kind.FOREIGN,
                        count,
                        Units.plural(count, "receipt") + " of " + key + ", fingerprint " + key.fingerprint() + ", feed "
                                + key.feed() + " belong to no subscription");
            } else {
                pass.receipts.putAll(epochs);
            }
        });
        followed.forEach((of, count) -> {
            PassState pass = passes.get(of.pass);
            if (pass != null && pass.claims.containsKey(of.epoch)) {
                String right = pass.stream(of.epoch).fingerprint().text();
                if (!of.fingerprint.equals(right)) {
                    findings.add(
                            Finding.Kind.FOREIGN,
                            count,
                            pass.key + ", epoch " + of.epoch + ": " + Units.plural(count, "receipt")
                                    + " of fingerprint " + of.fingerprint + ", the epoch's version has " + right);
                }
            }
        });
        lastEpochs.forEach((consumer, epoch) -> {
            PassState pass = passes.get(PassKey.of(consumer));
            if (pass != null) {
                pass.acknowledged(consumer, epoch);
            }
        });
        return passes;
    }

    private void take(Subscription subscription) throws IOException {
        Consumer consumer = follows.part(subscription.consumer());
        String what = "subscription of " + Names.of(consumer) + " to " + PassKey.of(consumer) + ", epoch "
                + subscription.epoch() + ": ";
        Optional<String> problem = problem(subscription);
        if (problem.isPresent()) {
            findings.add(Finding.Kind.FOREIGN, 0, what + problem.get());
            return;
        }
        Opened opened = Objects.requireNonNull(sources.get(subscription.source()), "the check has opened it");
        PassState pass = passes.computeIfAbsent(PassKey.of(consumer), key -> new PassState(key, subscription.source()));
        boolean following = Follows.follows(consumer);
        if (!pass.reads(following ? subscription.epoch() : 0, opened.required())) {
            findings.add(
                    Finding.Kind.FOREIGN,
                    0,
                    what + "its fingerprint is " + subscription.consumer().fingerprint() + ", another subscription to"
                            + " this epoch has "
                            + pass.stream(subscription.epoch()).fingerprint().text());
            return;
        }
        pass.sees(View.parse(subscription.view(), opened.required().fieldNames()));
        SkippedBatches skipped = skipped(subscription, opened);
        if (subscription.begin() != Subscription.NONE) {
            pass.began(consumer, subscription.epoch(), subscription.begin(), skipped);
        }
        if (subscription.count() > 0) {
            pass.claim(subscription.epoch(), AssignedSlots.of(consumer, subscription, skipped));
        } else {
            TailPolicy tail = TailPolicy.byText(subscription.tail());
            pass.stood(consumer, subscription.epoch(), subscription.first(), tail, skipped);
        }
    }

    private Optional<String> problem(Subscription subscription) throws IOException {
        Consumer consumer = subscription.consumer();
        try {
            UUID id = UUID.fromString(consumer.feed());
            if (feed.isPresent() && !feed.get().equals(id)) {
                return Optional.of("it is one of feed " + id + ", this is feed " + feed.get());
            }
        } catch (IllegalArgumentException e) {
            return Optional.of("'" + consumer.feed() + "' is not the id of a feed");
        }
        Opened opened = sources.get(subscription.source());
        if (opened == null) {
            opened = open(subscription.source());
            sources.put(subscription.source(), opened);
        }
        if (opened.problem != null) {
            return Optional.of(opened.problem);
        }
        try {
            View.parse(subscription.view(), opened.required().fieldNames());
        } catch (IllegalArgumentException e) {
            return Optional.of(ErrorText.of(e));
        }
        String fingerprint = opened.required().fingerprint().text();
        if (!fingerprint.equals(consumer.fingerprint())) {
            return Optional.of("its fingerprint is " + consumer.fingerprint() + ", but its source has " + fingerprint);
        }
        if (Follows.follows(follows.part(consumer))) {
            OptionalLong chosen = follows.version(consumer, subscription.epoch());
            if (chosen.isEmpty()) {
                return Optional.of(
                        "no version of the dataset was chosen for this epoch, or the file with the choice is lost");
            }
            if (chosen.getAsLong() != subscription.source().version()) {
                return Optional.of("it is for version " + subscription.source().version()
                        + ", but the epoch has version " + chosen.getAsLong());
            }
        }
        long stride = (long) consumer.worldSize() * consumer.workers();
        SkippedBatches skipped = skipped(subscription, opened);
        long first = skipped.slot(subscription.first());
        if (subscription.stride() != stride
                || (subscription.count() > 0 && first % consumer.worldSize() != consumer.rank())) {
            return Optional.of("first number " + subscription.first() + " and stride " + subscription.stride()
                    + " do not match its rank");
        }
        long batches = opened.required().order().size().batches();
        long last = first + (subscription.count() - 1) * stride;
        if (subscription.count() > 0 && (subscription.count() > batches + stride || last >= batches + stride)) {
            return Optional.of("number " + last + " is past the end of an epoch of " + Units.plural(batches, "batch"));
        }
        return Optional.empty();
    }

    private static SkippedBatches skipped(Subscription subscription, Opened opened) {
        return SkipList.parse(subscription.epoch(), subscription.skip())
                .in(subscription.epoch(), opened.required().order().size());
    }

    private Opened open(Source source) throws IOException {
        for (Dataset dataset : datasets) {
            if (dataset.info().id().toString().equals(source.dataset())) {
                try {
                    return new Opened(AuditedStream.open(dataset, source, reads), null);
                } catch (UnknownVersionException
                        | ExpiredVersionException
                        | UnknownSplitException
                        | IllegalArgumentException e) {
                    return new Opened(null, ErrorText.of(e));
                }
            }
        }
        return new Opened(
                null,
                "dataset " + source.dataset()
                        + " is not among the given datasets; if it belongs here, name its directory with --dataset");
    }
}
