package dev.stoker;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Holds the directions between the modules, which the class path alone does not enforce in the command's module. */
class ModuleDirectionsTest {
    private static final String SCHEMAS = "dev.stoker.schemas..";
    private static final String TRANSPORT = "dev.stoker.transport..";
    private static final String STORAGE = "dev.stoker.storage..";
    private static final String FORMATS = "dev.stoker.formats..";
    private static final String METADATA = "dev.stoker.metadata..";
    private static final String REDIS = "dev.stoker.cli.redis..";
    private static final String HADOOP_FS = "dev.stoker.hadoop..";
    private static final String SERVER = "dev.stoker.server..";
    private static final String MOUNT = "dev.stoker.mount..";
    private static final String FLINK_COMMON = "dev.stoker.flink..";
    private static final String CONNECTORS = "dev.stoker.connectors..";
    private static final String INGEST = "dev.stoker.ingest..";
    private static final String EXPORT = "dev.stoker.export..";
    private static final String FEEDER = "dev.stoker.feeder..";
    private static final String CLIENT = "dev.stoker.client..";
    private static final String BENCH = "dev.stoker.bench..";
    private static final String CLI = "dev.stoker.cli..";

    private static final List<String> UPWARDS = List.of(
            TRANSPORT,
            SCHEMAS,
            STORAGE,
            FORMATS,
            METADATA,
            HADOOP_FS,
            SERVER,
            MOUNT,
            FLINK_COMMON,
            CONNECTORS,
            INGEST,
            EXPORT,
            FEEDER,
            BENCH,
            CLI);

    /** More than a reader can keep in mind. */
    private static final int MOST_CLASSES = 25;

    /** The two ends of a connection, or a thing and its record in the ledger. */
    private static final Set<String> TWO_ENDS =
            Set.of("Admission", "Batch", "DamagedPieces", "PlainWire", "Subscription", "TlsWire", "Wire");

    private static JavaClasses classes;

    @BeforeAll
    static void importMainClasses() {
        classes = new ClassFileImporter()
                .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                .withImportOption(location -> !location.contains("-tests.jar"))
                .importPackages("dev.stoker");
    }

    @Test
    void everyModuleIsSeen() {
        for (String module : UPWARDS) {
            String name = module.substring(0, module.length() - "..".length());
            assertThat(classes).anyMatch(c -> c.getPackageName().startsWith(name), name);
        }
    }

    @Test
    void noModuleDependsOnOneAboveIt() {
        for (int i = 0; i < UPWARDS.size() - 1; i++) {
            String[] above = UPWARDS.subList(i + 1, UPWARDS.size()).toArray(String[]::new);
            check(noClasses()
                    .that()
                    .resideInAPackage(UPWARDS.get(i))
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(above));
        }
    }

    @Test
    void noPackageDependsOnItself() {
        slices().matching("dev.stoker.(**)").should().beFreeOfCycles().check(classes);
    }

    @Test
    void noPackageIsCrowded() {
        Map<String, Long> crowded = classes.stream()
                .filter(c -> c.isTopLevelClass() && !c.getSimpleName().equals("package-info"))
                .collect(Collectors.groupingBy(JavaClass::getPackageName, TreeMap::new, Collectors.counting()));
        crowded.values().removeIf(count -> count <= MOST_CLASSES);
        assertThat(crowded)
                .as("packages with more than %d classes; divide them by subject", MOST_CLASSES)
                .isEmpty();
    }

    @Test
    void noSimpleNameMeansTwoThings() {
        Map<String, Set<String>> packages = classes.stream()
                .filter(c -> c.isTopLevelClass() && !c.getSimpleName().equals("package-info"))
                .filter(c -> !TWO_ENDS.contains(c.getSimpleName()))
                .collect(Collectors.groupingBy(
                        JavaClass::getSimpleName,
                        TreeMap::new,
                        Collectors.mapping(JavaClass::getPackageName, Collectors.toCollection(TreeSet::new))));
        packages.values().removeIf(names -> names.size() == 1);
        assertThat(packages).isEmpty();
    }

    @Test
    void onlyTheFeederJobAndTheCommandKnowTheServer() {
        check(noClasses()
                .that()
                .resideInAnyPackage(FLINK_COMMON, CONNECTORS, INGEST)
                .should()
                .dependOnClassesThat()
                .resideInAPackage(SERVER));
    }

    @Test
    void theJobsNeverSeeEachOther() {
        check(noClasses()
                .that()
                .resideInAPackage(INGEST)
                .should()
                .dependOnClassesThat()
                .resideInAPackage(FEEDER));
        check(noClasses()
                .that()
                .resideInAPackage(FEEDER)
                .should()
                .dependOnClassesThat()
                .resideInAPackage(INGEST));
    }

    @Test
    void theClientKnowsSchemasOnly() {
        check(noClasses()
                .that()
                .resideInAPackage(CLIENT)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(STORAGE, METADATA, SERVER, FLINK_COMMON, CONNECTORS, INGEST, FEEDER, CLI));
    }

    @Test
    void hadoopIsKnownInTwoPackagesThatNobodyKnows() {
        // It is loaded by a separate class loader, with the first remote store.
        check(noClasses()
                .that()
                .resideOutsideOfPackage("dev.stoker.storage.hadoop..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("dev.stoker.storage.hadoop..", "software.amazon.."));
        // The file system belongs to a program that has Hadoop.
        check(noClasses()
                .that()
                .resideOutsideOfPackages("dev.stoker.storage.hadoop..", HADOOP_FS)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(HADOOP_FS, "org.apache.hadoop.."));
    }

    @Test
    void clientsOfCloudsAreKnownInOnePackageThatNobodyKnows() {
        // It is loaded by a separate class loader, with the first location of a cloud.
        check(noClasses()
                .that()
                .resideOutsideOfPackage("dev.stoker.storage.cloud..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "dev.stoker.storage.cloud..",
                        "com.google.api..",
                        "com.google.auth..",
                        "com.azure..",
                        "reactor.."));
    }

    @Test
    void onlyTheCommandKnowsRedis() {
        check(noClasses()
                .that()
                .resideOutsideOfPackages(REDIS, CLI)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(REDIS, "redis.clients.."));
    }

    @Test
    void measurementsKnowStoresDatasetsAndTheClientOnly() {
        check(noClasses()
                .that()
                .resideInAPackage(BENCH)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(SERVER, FLINK_COMMON, CONNECTORS, INGEST, EXPORT, FEEDER, FORMATS, REDIS));
    }

    @Test
    void onlyTheCommandKnowsTheMountAndOneOfItsPackagesKnowsFuse() {
        check(noClasses()
                .that()
                .resideOutsideOfPackages(MOUNT, CLI)
                .should()
                .dependOnClassesThat()
                .resideInAPackage(MOUNT));
        check(noClasses()
                .that()
                .resideOutsideOfPackage("dev.stoker.mount.fuse..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("ru.serce.jnrfuse..", "jnr..", "com.kenai.jffi.."));
    }

    @Test
    void formatsStoresServerAndClientAreFreeOfFlink() {
        check(noClasses()
                .that()
                .resideInAnyPackage(SCHEMAS, STORAGE, METADATA, REDIS, HADOOP_FS, SERVER, MOUNT, CLIENT, BENCH)
                .should()
                .dependOnClassesThat()
                .resideInAPackage("org.apache.flink.."));
    }

    @Test
    void schemasHaveNoSocketsThreadsOrFiles() {
        check(noClasses()
                .that()
                .resideInAPackage(SCHEMAS)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("java.net..", "java.nio.file..")
                .orShould()
                .dependOnClassesThat()
                .haveNameMatching("java\\.io\\.(File|RandomAccessFile)|java\\.lang\\.Thread"
                        + "|java\\.nio\\.channels\\.(File|Socket|ServerSocket)Channel"));
    }

    private static void check(ArchRule rule) {
        rule.allowEmptyShould(true).check(classes);
    }
}
