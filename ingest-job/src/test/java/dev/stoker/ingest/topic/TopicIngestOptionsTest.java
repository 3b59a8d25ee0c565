package dev.stoker.ingest.topic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.connectors.dataset.TopicRun;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.schemas.arrow.types.Field;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.assertj.core.groups.Tuple;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TopicIngestOptionsTest {

    private static TopicIngestOptions parse(String... more) {
        List<String> args = new ArrayList<>(List.of("kafka://a:9092,b:9093/photos", "/data/photos"));
        args.addAll(Arrays.asList(more));
        return TopicIngestOptions.parse(args.toArray(new String[0]));
    }

    @Test
    void knowsATopicByItsScheme() {
        assertThat(TopicIngestOptions.isTopic("--value=raw", "kafka://a:9092/photos", "/data"))
                .isTrue();
        assertThat(TopicIngestOptions.isTopic("kafka://", "/data")).isTrue();
        assertThat(TopicIngestOptions.isTopic("./photos", "/data")).isFalse();
        assertThat(TopicIngestOptions.isTopic()).isFalse();
    }

    @Test
    void hasDefaults() {
        TopicIngestOptions options = parse("--value=raw");
        assertThat(options.topic().bootstrap()).isEqualTo("a:9092,b:9093");
        assertThat(options.topic().topic()).isEqualTo("photos");
        assertThat(options.shape().name()).isEqualTo("photos");
        assertThat(options.value().field()).isEqualTo("data");
        assertThat(options.work().commitInterval()).hasMinutes(1);
        assertThat(options.deadLetters().location()).isEqualTo("/data/photos/_stoker/dead-letters");
        assertThat(options.reach().from()).isEqualTo(TopicIngestOptions.From.EARLIEST);
        assertThat(options.reach().until()).isEqualTo(TopicIngestOptions.Until.STOPPED);
    }

    @Test
    void leavesOutTombstonesAndOnRequestDuplicates() {
        assertThat(parse("--value=raw").deadLetters().leftOut()).containsExactly(RecordsLeftOut.TOMBSTONES);
        assertThat(parse("--value=raw", "--tombstones=dead-letter")
                        .deadLetters()
                        .leftOut())
                .isEmpty();
        assertThat(parse("--value=raw", "--key=record", "--on-duplicate=skip")
                        .deadLetters()
                        .leftOut())
                .containsExactly(RecordsLeftOut.TOMBSTONES, RecordsLeftOut.DUPLICATES);
    }

    @Test
    void recordsCanReplaceAndDeleteSamples() {
        TopicIngestOptions options = parse("--value=raw", "--key=record", "--on-duplicate=replace");
        assertThat(options.mapping().keys()).isEqualTo(TopicRun.Keys.CHANGES);
        assertThat(options.deadLetters().leftOut()).containsExactly(RecordsLeftOut.TOMBSTONES);
        assertThat(parse("--value=raw", "--key=record", "--on-duplicate=replace", "--tombstones=delete")
                        .deadLetters()
                        .leftOut())
                .isEmpty();
    }

    @Test
    void readsASchema() {
        assertThat(parse("--value=json", "--schema=label:categorical,image:float32[3,8,8]", "--schema=note:utf8?")
                        .shape()
                        .fields())
                .extracting(Field::name, field -> field.type().canonical(), Field::nullable)
                .containsExactly(
                        Tuple.tuple("label", "categorical", false),
                        Tuple.tuple("image", "float32[3,8,8]", false),
                        Tuple.tuple("note", "utf8", true));
    }

    @Test
    void readsTypesWithCommas() {
        assertThat(parse(
                                "--value=json",
                                "--schema=at:timestamp[ms,UTC],price:decimal(10,2)?,n:decimal(3,0),tags:utf8[]")
                        .shape()
                        .fields())
                .extracting(field -> field.name() + " " + field.type() + (field.nullable() ? "?" : ""))
                .containsExactly("at timestamp[ms,UTC]", "price decimal(10,2)?", "n decimal(3,0)", "tags utf8[]");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--value=xml | xml is not raw or json or avro",
                "--value=raw --limit=3 | option --limit is for trees of files",
                "--value=raw --ingest-id=x | the same command resumes there",
                "--value=raw --replace | option --replace is for trees of files",
                "--value=raw --from=yesterday | yesterday is neither earliest nor latest",
                "--value=raw --until=tomorrow | tomorrow is not latest",
                "--value=raw --commit-interval=5ms | not at least 100 ms",
                "--value=raw --schema=n:int32 | --schema is for json and avro",
                "--value=json --field=x | --field names the field of raw values",
                "--value=json --schema=n | n is not name:type",
                "--value=json --schema=n:int12 | unknown type",
                "--value=json --schema=n:float16 | not supported for topics",
                "--value=json --schema=n:int8,n:int8 | two fields are named n",
                "--value=json --avro-schema=x | option --avro-schema",
                "--value=avro | avro values need --avro-schema FILE or --schema-registry URL",
                "--value=avro --schema-registry=ftp://x | not an http or https URL",
                "--value=avro --schema-registry=http://me:secret@x | put user and password",
                "--value=raw --header=h=data | two fields are named data",
                "--value=raw --header=h=f:int32[] | cannot be read from a header",
                "--value=raw --key=value | value is not offset or record",
                "--value=raw --max-dead-letters=-1 | not at least 0",
                "--value=raw --tombstones=delete | delete needs --key record and --on-duplicate replace",
                "--value=raw --key=record --on-duplicate=replace --tombstones=dead-letter | give skip or delete",
                "--value=raw --on-duplicate=skip | option --on-duplicate needs --key record",
                "--value=raw --key=record --on-duplicate=last | last is not fail or skip or replace",
                "--value=raw --kafka-config=/nowhere | the file /nowhere is not readable",
            })
    void refuses(String args, String message) {
        assertThatThrownBy(() -> parse(args.strip().split(" ")))
                .isInstanceOf(InvalidIngestException.class)
                .hasMessageContaining(message.strip());
    }

    @Test
    void tellsAllThatIsWrongTogether() {
        assertThatThrownBy(() -> TopicIngestOptions.parse("kafka://nowhere", "/data", "--order=listed"))
                .isInstanceOfSatisfying(
                        InvalidIngestException.class,
                        e -> assertThat(e.problems())
                                .hasSize(3)
                                .anyMatch(text -> text.contains("kafka://host:port"))
                                .anyMatch(text -> text.contains("--order"))
                                .anyMatch(text -> text.contains("values is missing; give --value raw")));
    }
}
