package dev.stoker.feeder.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.feeder.ledger.LedgerFile.Delivery;
import java.util.LinkedHashSet;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SignedEpochsTest {

    private final SignedEpochs signed = new SignedEpochs();

    private OptionalLong file(Delivery... deliveries) {
        Set<Delivery> all = new LinkedHashSet<>(Set.of(deliveries));
        OptionalLong epoch = signed.newest(all);
        signed.add(all);
        return epoch;
    }

    @Test
    void theFirstFileOfEachEpochGetsASign() {
        assertThat(file(new Delivery("a", 0))).hasValue(0);
        assertThat(file(new Delivery("a", 0))).isEmpty();
        assertThat(file(new Delivery("a", 0), new Delivery("a", 1))).hasValue(1);
        assertThat(file(new Delivery("b", 1))).hasValue(1);
        assertThat(file(new Delivery("a", 1), new Delivery("b", 0))).isEmpty();
    }

    @Test
    void aFileOfManyGroupsAndEpochsGetsOneSignAndTheMemoryIsBounded() {
        for (int file = 0; file < 30; file++) {
            Set<Delivery> many = new LinkedHashSet<>();
            for (int i = 0; i < 1000; i++) {
                many.add(new Delivery("group " + file + "." + i, i));
            }
            assertThat(signed.newest(many)).hasValue(999);
            signed.add(many);
        }
        assertThat(signed.size()).isEqualTo(SignedEpochs.MAX_PASSES);
    }
}
