package dev.stoker.server.session;

import dev.stoker.schemas.protocol.FileAnnouncement;
import dev.stoker.server.chunks.LocalFile;
import dev.stoker.server.window.FileNumbers;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The files that one trainer knows by number. If all numbers are taken, the file that was unused for the longest time
 * loses its number. For the sender thread.
 */
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

    private final List<FileAnnouncement> untold = new ArrayList<>();
    private long piece;

    /**
     * @param limit number of available numbers
     * @param leastRow bytes of payload per row from which references are used
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
            untold.add(new FileAnnouncement(number, file.device(), file.inode(), file.length(), file.path()));
        }
        entry.piece = piece;
        return entry.number;
    }

    /**
     * Returns the files that the trainer must learn before the next reference, in order. The list is empty afterwards.
     */
    List<FileAnnouncement> untold() {
        List<FileAnnouncement> all = List.copyOf(untold);
        untold.clear();
        return all;
    }
}
