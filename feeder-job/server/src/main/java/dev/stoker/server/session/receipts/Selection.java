package dev.stoker.server.session.receipts;

import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.batch.View;
import dev.stoker.schemas.protocol.Frame.Selected;
import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.Select;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import dev.stoker.server.window.GroupOrder;
import java.util.List;

/**
 * The columns that a trainer receives on one session: all, unless it selects some before it subscribes. For the
 * session's reader thread.
 */
public final class Selection {
    private final GroupOrder order;
    private final List<String> fields;
    private View view;
    private boolean selected;

    public Selection(GroupOrder order) {
        this.order = order;
        this.fields = order.stream().fields().stream().map(Field::name).toList();
        this.view = View.whole(fields);
    }

    public View view() {
        return view;
    }

    /**
     * Takes over the trainer's selection.
     *
     * @param subscribed whether the session has subscribed before
     * @return the answer
     * @throws ProtocolException if the frame is out of turn, or is for another number of columns
     */
    public Selected select(Select asked, boolean subscribed) throws ProtocolException {
        if (subscribed) {
            throw bad("it comes after SUBSCRIBE; reconnect to read other columns");
        }
        if (selected) {
            throw bad("it comes a second time; reconnect to read other columns");
        }
        if (asked.columns() != view.available()) {
            throw bad("it is for " + asked.columns() + " columns, the stream has " + view.available());
        }
        selected = true;
        view = View.of(fields, asked.selected());
        return new Selected(order.largestBatchBytes(view), view.tag());
    }

    private static ProtocolException bad(String message) {
        return new ProtocolException(ErrorCode.BAD_FRAME, "SELECT: " + message);
    }
}
