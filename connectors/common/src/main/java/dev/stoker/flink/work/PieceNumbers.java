package dev.stoker.flink.work;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.api.connector.source.lib.util.IteratorSourceEnumerator;

/** The numbers of the pieces, in many splits, so that a fast task does more of them. */
final class PieceNumbers extends NumberSequenceSource {

    private static final long serialVersionUID = 1;
    private static final int SPLITS_PER_TASK = 64;

    private final int pieces;

    /** @param pieces number of pieces, at least 1 */
    PieceNumbers(int pieces) {
        super(0, pieces - 1L);
        this.pieces = pieces;
    }

    @Override
    public SplitEnumerator<NumberSequenceSplit, Collection<NumberSequenceSplit>> createEnumerator(
            SplitEnumeratorContext<NumberSequenceSplit> context) {
        int count = Math.min(pieces, SPLITS_PER_TASK * context.currentParallelism());
        List<NumberSequenceSplit> splits = new ArrayList<>();
        for (long split = 0; split < count; split++) {
            splits.add(new NumberSequenceSplit(
                    Long.toString(split), split * pieces / count, (split + 1) * pieces / count - 1));
        }
        return new IteratorSourceEnumerator<>(context, splits);
    }
}
