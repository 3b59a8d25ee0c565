package dev.stoker.feeder.source.split;

import dev.stoker.server.feed.Identity;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The newest progress of each consumer: the most epochs of its greatest run. Its size grows with the number of
 * trainers, not with the number of epochs. For one thread.
 */
public final class NewestProgress {

    private record Place(String stream, String group, int replica, int rank, int worker) {
        static Place of(Identity consumer) {
            return new Place(
                    consumer.stream(), consumer.group(), consumer.replica(), consumer.rank(), consumer.worker());
        }
    }

    private final Map<Place, ConsumerProgress> places = new LinkedHashMap<>();

    /** Takes progress into account; true if it is news. */
    public boolean add(ConsumerProgress progress) {
        Place place = Place.of(progress.consumer());
        ConsumerProgress known = places.get(place);
        if (known != null) {
            int run = Long.compare(progress.consumer().run(), known.consumer().run());
            if (run < 0 || (run == 0 && progress.epochs() <= known.epochs())) {
                return false;
            }
        }
        places.put(place, progress);
        return true;
    }

    /** As {@link #add}, for several; how many were news. */
    public int addAll(Collection<ConsumerProgress> all) {
        return (int) all.stream().filter(this::add).count();
    }

    /** All of it, in no particular order. */
    public List<ConsumerProgress> all() {
        return List.copyOf(places.values());
    }
}
