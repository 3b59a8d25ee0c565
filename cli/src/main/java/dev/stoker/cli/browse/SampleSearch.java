package dev.stoker.cli.browse;

import dev.stoker.metadata.index.ListEntry;
import dev.stoker.metadata.index.SampleIndex;
import dev.stoker.metadata.index.SampleListing;
import dev.stoker.metadata.index.SampleStat;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.table.ChunkTable;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.function.LongSupplier;

/**
 * Finds samples of a version, some at a time. A search with few results ends early and says where it continues, so that
 * no request reads the heads of a whole large dataset. For one request.
 */
final class SampleSearch {

    /** Maximum time of one search, apart from the chunk that is being read. */
    static final Duration TIME = Duration.ofMillis(400);

    private static final int MOST_PROBLEMS = 5;

    private final BrowsedVersion version;
    private final ChunkTable table;
    private final Filter filter;
    private final int limit;
    private final LongSupplier nanoTime;
    private final List<RowAddress> found = new ArrayList<>();
    private final Set<String> problems = new LinkedHashSet<>();
    private long searched;
    private long end;

    /** @param limit maximum number of results */
    SampleSearch(BrowsedVersion version, Filter filter, int limit, LongSupplier nanoTime) {
        this.version = version;
        this.table = version.table();
        this.filter = filter;
        this.limit = limit;
        this.nanoTime = nanoTime;
    }

    private boolean isOver() {
        return found.size() >= limit || nanoTime.getAsLong() - end > 0;
    }

    /**
     * Searches in the order of chunks and rows.
     *
     * @param from position of the first sample in the split
     */
    SamplePage inStoredOrder(long from) {
        end = nanoTime.getAsLong() + TIME.toNanos();
        Positions positions = version.positions(filter.split());
        long position = Math.min(from, positions.size());
        while (position < positions.size() && !isOver()) {
            int number = positions.numberOf(position);
            int chunk = positions.chunk(number);
            Optional<IntPredicate> test = test(chunk);
            if (test.isEmpty()) {
                position = skipTo(positions.begin(number + 1), position);
                continue;
            }
            int[] rows = positions.rows(number);
            int at = (int) (position - positions.begin(number));
            while (at < rows.length && found.size() < limit) {
                if (test.get().test(rows[at])) {
                    found.add(new RowAddress(chunk, rows[at]));
                }
                at++;
            }
            position = skipTo(positions.begin(number) + at, position);
        }
        return new SamplePage(
                SamplePage.Order.STORED,
                List.copyOf(found),
                position < positions.size() ? Long.toString(position) : null,
                searched,
                List.copyOf(problems),
                OptionalLong.of(position),
                OptionalLong.empty());
    }

    /** Returns the test of the rows of a chunk; empty if no row can be selected, or if the chunk cannot be read. */
    private Optional<IntPredicate> test(int chunk) {
        if (filter.selectsAll()) {
            return Optional.of(row -> true);
        }
        try {
            return filter.rows(version.samples().head(chunk));
        } catch (IOException e) {
            if (problems.size() < MOST_PROBLEMS) {
                problems.add(BrowseProblems.text(e));
            }
            return Optional.empty();
        }
    }

    private long skipTo(long next, long position) {
        searched += next - position;
        return next;
    }

    /**
     * Searches in the order of a field's values.
     *
     * @param from number of the first sample in this order
     */
    SamplePage inSortedOrder(SortOrder order, long from) throws IOException {
        SortOrder.Sorted sorted = version.sorted(filter, order);
        searched = sorted.searched();
        problems.addAll(sorted.problems());
        List<RowAddress> all = sorted.places();
        int begin = (int) Math.min(from, all.size());
        int next = Math.min(begin + limit, all.size());
        return new SamplePage(
                SamplePage.Order.SORTED,
                List.copyOf(all.subList(begin, next)),
                next < all.size() ? Integer.toString(next) : null,
                searched,
                List.copyOf(problems),
                OptionalLong.of(next),
                OptionalLong.of(all.size()));
    }

    /** Reads all selected samples for {@link SortOrder}, whatever time it takes. */
    static SortOrder.Sorted sort(BrowsedVersion version, Filter filter, SortOrder order) throws IOException {
        SampleSearch search = new SampleSearch(version, filter, Integer.MAX_VALUE, System::nanoTime);
        Positions positions = version.positions(filter.split());
        if (positions.size() > SortOrder.MOST) {
            throw new IllegalArgumentException("more than " + SortOrder.MOST + " samples cannot be sorted; select a"
                    + " split, or export the fields with stoker export --columns");
        }
        SortOrder.Sorter sorter = order.sorter(version.fields());
        for (int number = 0; number < positions.chunks(); number++) {
            int chunk = positions.chunk(number);
            Optional<IntPredicate> test = search.test(chunk);
            if (test.isPresent()) {
                try {
                    sorter.add(version.samples().head(chunk), chunk, positions.rows(number), test.get());
                } catch (IOException e) {
                    search.problems.add(BrowseProblems.text(e));
                }
            }
        }
        return new SortOrder.Sorted(sorter.sorted(), positions.size(), List.copyOf(search.problems));
    }

    /**
     * Counts the samples of each class, some chunks at a time.
     *
     * @param from position of the first sample in the split
     */
    ClassCounts classCounts(long from) {
        end = nanoTime.getAsLong() + TIME.toNanos();
        Positions positions = version.positions(filter.split());
        ClassCounts counts = new ClassCounts(version.fields());
        long position = Math.min(from, positions.size());
        while (position < positions.size() && nanoTime.getAsLong() - end <= 0) {
            int number = positions.numberOf(position);
            try {
                counts.add(version.samples().head(positions.chunk(number)), positions.rows(number));
            } catch (IOException e) {
                counts.missed(positions.begin(number + 1) - positions.begin(number));
            }
            position = positions.begin(number + 1);
        }
        counts.end(position < positions.size() ? position : -1);
        return counts;
    }

    /**
     * Searches in the order of keys.
     *
     * @param after the sample after which the search begins; empty for the first one
     */
    SamplePage inKeyOrder(SampleIndex index, Optional<RowAddress> after) throws IOException {
        end = nanoTime.getAsLong() + TIME.toNanos();
        SampleListing listing = index.list(filter.prefix(), "");
        if (after.isPresent()) {
            ChunkHead head = version.samples().head(after.get().chunk());
            listing.skipAfter(head.key(after.get().row()));
        }
        RowAddress last = null;
        boolean isEnd = false;
        while (!isEnd && !isOver()) {
            Optional<ListEntry> entry = listing.next();
            isEnd = entry.isEmpty();
            if (entry.isPresent()) {
                searched++;
                SampleStat stat = entry.get().sample().orElseThrow();
                last = new RowAddress(table.indexOf(stat.ordinal()), stat.row());
                if (isSelected(stat, last)) {
                    found.add(last);
                }
            }
        }
        isEnd = isEnd || listing.next().isEmpty();
        return new SamplePage(
                SamplePage.Order.KEY,
                List.copyOf(found),
                isEnd || last == null ? null : last.text(table),
                searched,
                List.copyOf(problems),
                OptionalLong.empty(),
                OptionalLong.empty());
    }

    private boolean isSelected(SampleStat stat, RowAddress place) {
        if (filter.split().isPresent() && !filter.split().get().equals(stat.split())) {
            return false;
        }
        if (filter.ofClass().isEmpty() && filter.where().isEmpty()) {
            return true;
        }
        return test(place.chunk()).filter(test -> test.test(place.row())).isPresent();
    }
}
