package dev.stoker.client;

import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.protocol.Welcome;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/**
 * The description of a stream.
 *
 * @param feed the feed's name
 * @param stream the stream's name in it
 * @param dataset the dataset's name
 * @param version the version served
 * @param split the split served
 * @param fingerprint equal if and only if all batches are equal
 * @param order the settings that determine the batches
 * @param fields small fields first; without the key
 * @param classes the class names of each categorical field, by id
 * @param samples of an epoch
 * @param batches of an epoch, over all ranks
 * @param epochs the number of epochs that the feed serves, if it is limited
 * @param run the launch that this client belongs to
 */
public record StreamInfo(
        String feed,
        String stream,
        String dataset,
        long version,
        String split,
        String fingerprint,
        OrderSpec order,
        List<Field> fields,
        Map<String, List<String>> classes,
        long samples,
        long batches,
        OptionalLong epochs,
        long run) {

    static StreamInfo of(Welcome welcome) {
        return new StreamInfo(
                welcome.feed().name(),
                welcome.stream().name(),
                welcome.stream().datasetName(),
                welcome.stream().version(),
                welcome.stream().split(),
                welcome.pass().fingerprint().text(),
                welcome.pass().order(),
                fields(welcome),
                welcome.columns().classes(),
                welcome.pass().samples(),
                welcome.size().batches(),
                welcome.pass().epochs(),
                welcome.session().run());
    }

    static List<Field> fields(Welcome welcome) {
        return welcome.columns().fields().stream()
                .map(field -> new Field(field.name(), FieldType.parse(field.type()), field.nullable(), field.payload()))
                .toList();
    }
}
