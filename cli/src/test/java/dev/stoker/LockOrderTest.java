package dev.stoker;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;

/** Holds the locks of all modules in one order. */
class LockOrderTest {
    @Test
    void noLocksAreTakenInOppositeOrders() throws IOException {
        List<String> classes = new ClassFileImporter()
                        .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                        .withImportOption(location -> !location.contains("-tests.jar"))
                        .importPackages("dev.stoker")
                        .stream()
                        .map(JavaClass::getName)
                        .filter(name -> !name.endsWith("[]"))
                        .toList();
        LockOrder order = LockOrder.of(classes);
        assertThat(order.locks()).contains("Groups", "SendQueue.lock", "AckTable.lock");
        assertThat(order.pairs()).contains("Groups > Group", "Group > SendQueue.lock");
        assertThat(order.cycles()).isEmpty();
    }

    interface Host {
        void rest();
    }

    /** A class whose objects ask each other, through an interface, a lambda and a field with a lock. */
    static class House implements Host {
        private final Lock door = new ReentrantLock();
        private final Object key = new Object();
        private final Guest guest = new Guest(this);

        @Override
        public synchronized void rest() {
            List.of(guest).forEach(Guest::greet);
        }

        void enter() {
            door.lock();
            try {
                synchronized (key) {
                    guest.leave();
                }
            } finally {
                door.unlock();
            }
        }

        void turn() {
            synchronized (key) {
                key.notifyAll();
            }
            door.lock();
            try {
                guest.name = "new";
            } finally {
                door.unlock();
            }
        }
    }

    static class Guest {
        private final Host host;
        String name = "";

        Guest(Host host) {
            this.host = host;
        }

        synchronized void greet() {}

        synchronized void leave() {
            host.rest();
        }
    }

    @Test
    void findsACycleThroughInterfacesAndLambdas() throws IOException {
        String house = getClass().getSimpleName() + ".House";
        String guest = getClass().getSimpleName() + ".Guest";
        LockOrder order = LockOrder.of(List.of(House.class.getName(), Guest.class.getName()));
        assertThat(order.pairs())
                .containsExactlyInAnyOrder(
                        guest + " > " + house,
                        house + " > " + guest,
                        house + ".door > " + house,
                        house + ".door > " + house + ".key",
                        house + ".door > " + guest,
                        house + ".key > " + house,
                        house + ".key > " + guest);
        assertThat(order.cycles())
                .singleElement(InstanceOfAssertFactories.STRING)
                .contains("Guest.leave", "House.rest");
    }
}
