package dev.stoker.feeder.node.server;

import dev.stoker.feeder.node.chunks.LocalFile;
import dev.stoker.feeder.node.window.FileNumbers;
import dev.stoker.schemas.protocol.HandoverFile;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The files that one trainer was told of; when all numbers are taken, the one longest unused is given anew. Sender thread. */
final class SentFiles implements FileNumbers {
    private static final class Entry {
        final int number;
        long piece;

        Entry(int number) {
            this.number = number;
        }
    }

    private final int limit;
    private final int leastRow;
    /** Longest unused first. */
    private final LinkedHashMap<LocalFile, Entry> known = new LinkedHashMap<>(64, 0.75f, true);

    private final List<HandoverFile> untold = new ArrayList<>();
    private long piece;

    /**
     * @param limit numbers that there are
     * @param leastRow bytes of payload a row from which references are wanted
     */
    SentFiles(int limit, int leastRow) {
        this.limit = limit;
        this.leastRow = leastRow;
    }

    @Override
    public int leastRow() {
        return leastRow;
    }

    @Override
    public void begin() {
        piece++;
    }

    @Override
    public int numberOf(LocalFile file) {
        Entry entry = known.get(file);
        if (entry == null) {
            int number = known.size();
            if (number == limit) {
                Iterator<Map.Entry<LocalFile, Entry>> eldest = known.entrySet().iterator();
                Entry oldest = eldest.next().getValue();
                if (oldest.piece == piece) {
                    return -1;
                }
                eldest.remove();
                number = oldest.number;
            }
            entry = new Entry(number);
            known.put(file, entry);
            untold.add(new HandoverFile(number, file.device(), file.inode(), file.length(), file.path()));
        }
        entry.piece = piece;
        return entry.number;
    }

    /** What has to be told before the next reference, in order; empty afterwards. */
    List<HandoverFile> untold() {
        List<HandoverFile> all = List.copyOf(untold);
        untold.clear();
        return all;
    }
}
