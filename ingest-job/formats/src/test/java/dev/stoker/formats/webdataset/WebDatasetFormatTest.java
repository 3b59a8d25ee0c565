package dev.stoker.formats.webdataset;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.formats.ColumnHints;
import dev.stoker.formats.ColumnHints.Others;
import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowReader;
import dev.stoker.formats.Rows;
import dev.stoker.formats.Tars;
import dev.stoker.formats.UnsupportedFileException;
import dev.stoker.schemas.arrow.types.FieldType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WebDatasetFormatTest {
    private static final WebDatasetFormat FORMAT = new WebDatasetFormat();

    private static RowFile open(byte[] tar) throws IOException {
        return FORMAT.open(Rows.file("a.tar", tar), ReadLimits.DEFAULT);
    }

    /** Reads all rows; a row that cannot be read becomes its message. */
    private static List<String> readSkipping(RowFile file) throws IOException {
        int[] all = new int[file.schema().columns().size()];
        Arrays.setAll(all, i -> i);
        List<String> rows = new ArrayList<>();
        try (RowReader reader = file.read(file.parts().get(0), all)) {
            while (true) {
                try {
                    if (!reader.next()) {
                        return rows;
                    }
                    rows.add(reader.position() + " " + Rows.row(file, reader, all));
                } catch (DamagedFileException e) {
                    assertThat(reader.skip()).as(e.getMessage()).isTrue();
                    rows.add(reader.position() + " " + e.getMessage());
                }
            }
        }
    }

    @Test
    void groupsConsecutiveMembersByWhatIsBeforeTheFirstDot() throws Exception {
        byte[] tar = new Tars()
                .file("d.x/a.txt", "1")
                .file("d.x/a.seg.TXT", "2")
                .member("e/", '5', new byte[0])
                .file("__meta__/info.txt", "left out")
                .file("d.x/b.txt", "3")
                .bytes();
        RowFile file = open(tar);
        assertThat(Rows.columns(file).toString())
                .isEqualTo("[[__key__, utf8, KEY], [txt, utf8, NONE], [seg.txt, utf8, NONE]]");
        assertThat(readSkipping(file)).containsExactly("0 [\"d.x/a\",\"1\",\"2\"]", "3584 [\"d.x/b\",\"3\",null]");
    }

    @Test
    void leavesOutASampleThatIsThereAlready() throws Exception {
        byte[] tar = new Tars()
                .file("a.txt", "1")
                .file("a.id", "2")
                .file("b.txt", "2")
                .file("a.id", "3")
                .file("c.txt", "4")
                .bytes();
        List<String> rows = readSkipping(open(tar));
        assertThat(rows.get(2))
                .startsWith("3072 a.tar: the sample at offset 3072 cannot be read: sample 'a' is there"
                        + " already, at offset 0");
        assertThat(rows.get(3)).startsWith("4096 [\"c\"");
    }

    @Test
    void readsNoHalfOfASampleWhoseMembersAreApart() throws Exception {
        byte[] tar = new Tars()
                .file("a.txt", "1")
                .file("b.txt", "2")
                .file("a.cls", "3")
                .file("b.cls", "4")
                .bytes();
        RowFile file = open(tar);
        RowReader reader = file.read(file.parts().get(0), new int[] {0});
        assertThat(reader.next()).isTrue();
        assertThat(reader.next()).isTrue();
        assertThatThrownBy(reader::next)
                .isInstanceOf(UnsupportedFileException.class)
                .hasMessage("a.tar: the sample at offset 2048 cannot be read: sample 'a' is there already, at offset 0,"
                        + " without these members, so it was read in part; the members of a sample must follow each"
                        + " other (tar --sort=name), and names must be unique");
        assertThat(reader.skip()).isFalse();
    }

    @Test
    void leavesOutAllMembersOfASampleThatCannotBeRead() throws Exception {
        byte[] tar = new Tars()
                .file("a.txt", "1")
                .file("a.TXT", "2")
                .file("LICENSE", "text")
                .file("a.cls", "3")
                .file("b.txt", "4")
                .file("a.cls", "5")
                .bytes();
        List<String> rows = readSkipping(open(tar));
        assertThat(rows).hasSize(4);
        assertThat(rows.get(0)).startsWith("0 a.tar").contains("member 'a.TXT' at offset 1024 is there twice");
        assertThat(rows.get(1)).startsWith("2048 a.tar").contains("member 'LICENSE' has no extension");
        assertThat(rows.get(2)).startsWith("4096 [\"b\"");
        assertThat(rows.get(3)).startsWith("5120 a.tar").contains("sample 'a' is there already");
    }

    @Test
    void readsASampleOnBothSidesOfAMemberThatBelongsToNone() throws Exception {
        byte[] tar = new Tars()
                .file("._a.txt", "hidden")
                .file("a.txt", "1")
                .file("LICENSE", "text")
                .file("a.cls", "2")
                .file("._b.txt", "hidden")
                .file("./b.cls", "4")
                .file("b.txt", "3")
                .file(".cache/b.cls", "hidden")
                .file("./.c/../c.txt", "hidden")
                .bytes();
        List<String> rows = readSkipping(open(tar));
        assertThat(rows).hasSize(4);
        assertThat(rows.get(0)).isEqualTo("1024 [\"a\",\"1\",2]");
        assertThat(rows.get(1)).startsWith("2048 a.tar").contains("member 'LICENSE' has no extension");
        assertThat(rows.get(2)).isEqualTo("5120 [\"./b\",null,4]");
        assertThat(rows.get(3)).isEqualTo("6144 [\"b\",\"3\",null]");
    }

    @Test
    void refusesManyMembersThatBelongToNoSample() throws Exception {
        Tars tar = new Tars().file("a.txt", "1");
        for (int i = 0; i <= 10_000; i++) {
            tar.member("README" + i, '0', new byte[0]);
        }
        RowFile file = open(tar.bytes());
        assertThatThrownBy(() -> readSkipping(file))
                .isInstanceOf(UnsupportedFileException.class)
                .hasMessageContaining("more than 10000 members up to 'README10000' at offset ");
    }

    @Test
    void namesMembersWithoutExtensions() {
        byte[] tar = new Tars().file("README", "x").file("LICENSE", "y").bytes();
        assertThatThrownBy(() -> open(tar))
                .isInstanceOf(UnsupportedFileException.class)
                .hasMessageStartingWith("a.tar has no samples: the names of its members, such as 'README', have no"
                        + " extension; give the members");
    }

    @ParameterizedTest
    @CsvSource({"5,true", "300,true", "3000,true", "4,false"})
    void namesDotsThatDoNotEndAKey(int samples, boolean isRefused) throws Exception {
        Tars tar = new Tars();
        for (int i = 0; i < samples; i++) {
            tar.file("a" + i + "." + i + ".txt", "x").file("a" + i + ".cls", "1");
        }
        if (isRefused) {
            assertThatThrownBy(() -> open(tar.bytes()))
                    .isInstanceOf(UnsupportedFileException.class)
                    .hasMessageContaining("samples are in one sample only, such as '0.txt'");
        } else {
            assertThat(open(tar.bytes()).schema().columns()).hasSize(2 + samples);
        }
    }

    @Test
    void readsSeveralFilesOfOneKindInASample() throws Exception {
        Tars tar = new Tars();
        for (int i = 0; i < 50; i++) {
            for (int view = 0; view <= i % 7; view++) {
                tar.file("a" + i + "." + view + ".txt", "x");
            }
        }
        assertThat(open(tar.bytes()).schema().columns()).hasSize(8);
    }

    @Test
    void namesALaterExtensionAndTheOption() throws Exception {
        Tars tar = new Tars();
        for (int i = 0; i <= 1000; i++) {
            tar.file(i + ".txt", "x");
        }
        tar.file("new.txt", "1").file("new.jpg", "2").file("last.txt", "3");
        List<String> rows = readSkipping(open(tar.bytes()));
        assertThat(rows.get(1001))
                .contains("the extension of member 'new.jpg' is not among the columns; add it with --type jpg=binary");
        assertThat(rows.get(1002)).endsWith("[\"last\",\"3\"]");
        RowFile wanted = FORMAT.open(
                Rows.file("a.tar", tar.bytes()),
                ReadLimits.DEFAULT,
                new ColumnHints(List.of(), Map.of("jpg", FieldType.parse("binary")), Set.of(), Others.IGNORE));
        assertThat(readSkipping(wanted).get(1001)).endsWith("[\"new\",{\"hex\":\"32\"}]");
    }

    @Test
    void reportsMembersThatBelongToNoSampleAndDoubleMembers() throws Exception {
        byte[] tar = new Tars()
                .file("README", "x")
                .file("a.txt", "1")
                .file("dir/.hidden.txt", "2")
                .file("b.txt", "3")
                .file("b.TXT", "4")
                .file("c.txt", "5")
                .bytes();
        List<String> rows = readSkipping(open(tar));
        assertThat(rows.get(0)).contains("member 'README' has no extension");
        assertThat(rows.get(1)).endsWith("[\"a\",\"1\"]");
        assertThat(rows.get(2)).contains("member 'b.TXT' at offset 4096 is there twice");
        assertThat(rows.get(3)).endsWith("[\"c\",\"5\"]");
        assertThat(rows).hasSize(4);
    }

    @ParameterizedTest
    @CsvSource({
        "1,a hard link",
        "2,a symbolic link",
        "3,a device",
        "6,a named pipe",
        "S,a sparse file",
        "M,a part",
        "?,of type"
    })
    void refusesOtherMembersThanFilesByName(char type, String words) {
        byte[] tar = new Tars()
                .file("a.txt", "1")
                .member("link.txt", type, new byte[0])
                .bytes();
        assertThatThrownBy(() -> open(tar))
                .isInstanceOf(UnsupportedFileException.class)
                .hasMessageContaining("a.tar: member 'link.txt' at offset 1024 is " + words);
    }

    @Test
    void readsPaxNamesAndSizesAndRefusesSparseFiles() throws Exception {
        String name = "é".repeat(200) + ".txt";
        String path = "path=" + name + "\n";
        int length = path.getBytes(StandardCharsets.UTF_8).length + 4;
        byte[] records = (length + " " + path + "34 size=" + "0".repeat(24) + "2\n").getBytes(StandardCharsets.UTF_8);
        byte[] tar = new Tars()
                .member("pax", 'x', records)
                .header("short.txt", '0', 0)
                .content("42".getBytes(StandardCharsets.UTF_8))
                .bytes();
        assertThat(Rows.read(open(tar))).containsExactly("[\"" + "é".repeat(200) + "\",\"42\"]");
        byte[] sparse = "22 GNU.sparse.major=1\n".getBytes(StandardCharsets.UTF_8);
        assertThatThrownBy(() -> open(
                        new Tars().member("pax", 'x', sparse).file("a.txt", "1").bytes()))
                .isInstanceOf(UnsupportedFileException.class)
                .hasMessageContaining("sparse file");
    }

    @Test
    void refusesArchivesWithoutEndAndBytesBehindIt() throws Exception {
        Tars tar = new Tars().file("a.txt", "1");
        assertThatThrownBy(() -> open(tar.open()))
                .isInstanceOf(DamagedFileException.class)
                .hasMessageContaining("without the zero block that ends a tar archive");
        byte[] two = Arrays.copyOf(tar.bytes(), 2 * tar.bytes().length);
        System.arraycopy(tar.bytes(), 0, two, tar.bytes().length, tar.bytes().length);
        assertThatThrownBy(() -> open(two))
                .isInstanceOf(DamagedFileException.class)
                .hasMessageContaining("other bytes behind the end");
    }

    @Test
    void refusesHugeSizesWithinTheLimits() throws Exception {
        assertThatThrownBy(() -> open(new Tars().header("a.jpg", '0', 1L << 32).bytes()))
                .isInstanceOf(DamagedFileException.class)
                .hasMessageContaining("ends too early");
        byte[] tar = new Tars().member("a.jpg", '0', new byte[3000]).bytes();
        RowFile file = FORMAT.open(Rows.file("a.tar", tar), new ReadLimits(2000, 2000, 8, 10));
        assertThatThrownBy(() -> Rows.read(file))
                .isInstanceOf(UnsupportedFileException.class)
                .hasMessageContaining("member 'a.jpg' at offset 0 has 3000 bytes");
    }

    @Test
    void readsDeclaredTypesAndRefusesValuesThatDoNotFit() throws Exception {
        byte[] tar = new Tars()
                .file("a.cls", " 7\n")
                .file("b.cls", "cat")
                .file("c.cls", "007")
                .bytes();
        assertThat(Rows.read(open(tar)).toString())
                .isEqualTo("[[\"a\",7], "
                        + "[\"b\",\"refused: 'cat' is not int64; use --type cls=utf8 or --type cls=binary\"], "
                        + "[\"c\",7]]");
        RowFile text = FORMAT.open(
                Rows.file("a.tar", tar),
                ReadLimits.DEFAULT,
                ColumnHints.types(Map.of("cls", FieldType.parse("categorical"))));
        assertThat(Rows.read(text).get(1)).isEqualTo("[\"b\",\"cat\"]");
    }

    @Test
    void findsRepeatedKeysAmongMany() {
        ShardKeys seen = new ShardKeys();
        for (int i = 0; i < 100_000; i++) {
            assertThat(seen.put("key/" + i, i)).isEqualTo(-1);
        }
        for (int i = 0; i < 100_000; i++) {
            assertThat(seen.put("key/" + i, -5)).isEqualTo(i);
        }
    }
}
