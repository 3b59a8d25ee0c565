package dev.stoker.connectors.dataset.source.split;

/** The progress in a split. Owned by the task's thread. */
public final class ChunkSplitState {

    private final ChunkSplit split;
    private int chunk;
    private int row;

    public ChunkSplitState(ChunkSplit split) {
        this.split = split;
        this.row = split.row();
    }

    /** Records that a row was emitted. */
    public void advance(long ordinal, int emitted) {
        while (split.chunks().get(chunk).ordinal() != ordinal) {
            chunk++;
        }
        row = emitted + 1;
    }

    /** Returns the rest of the split. */
    public ChunkSplit toSplit() {
        return new ChunkSplit(
                split.version(), split.chunks().subList(chunk, split.chunks().size()), row);
    }
}
