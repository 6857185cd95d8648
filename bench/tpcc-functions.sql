-- The transactions of the workload tpcc-like as PL/pgSQL, for `bench/run tpcc`: a procedure for each type, which draws its inputs by itself, as those
-- of HammerDB do. They work on tables that fsbench.run has loaded.

CREATE FUNCTION nurand(a integer, x integer, y integer, c integer) RETURNS integer LANGUAGE sql VOLATILE AS $$
    SELECT (((floor(random() * (a + 1))::integer | (x + floor(random() * (y - x + 1)))::integer) + c) % (y - x + 1)) + x
$$;

CREATE FUNCTION uniform(x integer, y integer) RETURNS integer LANGUAGE sql VOLATILE AS $$
    SELECT x + floor(random() * (y - x + 1))::integer
$$;

CREATE FUNCTION last_name() RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    syllables CONSTANT text[] := ARRAY['BAR', 'OUGHT', 'ABLE', 'PRI', 'PRES', 'ESE', 'ANTI', 'CALLY', 'ATION', 'EING'];
    drawn integer := nurand(255, 0, 999, 208);
BEGIN
    RETURN syllables[drawn / 100 + 1] || syllables[drawn / 10 % 10 + 1] || syllables[drawn % 10 + 1];
END
$$;

-- By last name in 60 % of all cases: of several customers the one in the middle.
CREATE FUNCTION a_customer(w integer, d integer) RETURNS integer LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    name text;
    found_ids integer[];
BEGIN
    IF uniform(1, 100) > 60 THEN
        RETURN nurand(1023, 1, 3000, 259);
    END IF;
    name := last_name();
    SELECT array_agg(c_id ORDER BY c_first) INTO found_ids FROM customer WHERE c_w_id = w AND c_d_id = d AND c_last = name;
    RETURN found_ids[(cardinality(found_ids) + 1) / 2];
END
$$;

-- Another warehouse, if there are several.
CREATE FUNCTION another(w integer, warehouses integer) RETURNS integer LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    drawn integer;
BEGIN
    IF warehouses < 2 THEN
        RETURN w;
    END IF;
    drawn := uniform(1, warehouses - 1);
    RETURN drawn + (drawn >= w)::integer;
END
$$;

CREATE PROCEDURE new_order(w integer, warehouses integer) LANGUAGE plpgsql AS $$
DECLARE
    d integer := uniform(1, 10);
    c integer := nurand(1023, 1, 3000, 259);
    lines integer := uniform(5, 15);
    is_wrong boolean := uniform(1, 100) = 1;
    items integer[] := '{}';
    suppliers integer[] := '{}';
    line record;
    number integer;
    price numeric;
    stock_row record;
    amount numeric := 0;
    taxes numeric;
    discount numeric;
BEGIN
    FOR i IN 1..lines LOOP
        items := items || CASE WHEN is_wrong AND i = lines THEN 100001 ELSE nurand(8191, 1, 100000, 7911) END;
        suppliers := suppliers || CASE WHEN uniform(1, 100) = 1 THEN another(w, warehouses) ELSE w END;
    END LOOP;
    SELECT w_tax, c_discount INTO taxes, discount FROM warehouse, customer WHERE w_id = w AND c_w_id = w AND c_d_id = d AND c_id = c;
    UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = w AND d_id = d RETURNING d_next_o_id - 1, taxes + d_tax INTO number, taxes;
    INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
        VALUES (number, d, w, c, CURRENT_TIMESTAMP, NULL, lines, (w = ALL (suppliers))::integer);
    INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (number, d, w);
    -- Rows of stock are locked in one order, so that two orders do not wait for each other in a circle.
    FOR line IN
        SELECT item, supplier, uniform(1, 10) AS quantity, position
        FROM unnest(items, suppliers) WITH ORDINALITY AS u (item, supplier, position) ORDER BY supplier, item
    LOOP
        SELECT i_price INTO price FROM item WHERE i_id = line.item;
        IF NOT FOUND THEN
            ROLLBACK;
            RETURN;
        END IF;
        UPDATE stock SET s_quantity = s_quantity - line.quantity + CASE WHEN s_quantity >= line.quantity + 10 THEN 0 ELSE 91 END,
            s_ytd = s_ytd + line.quantity, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + (line.supplier <> w)::integer
            WHERE s_w_id = line.supplier AND s_i_id = line.item
            RETURNING CASE d WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05
                WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 ELSE s_dist_10 END AS dist INTO stock_row;
        INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity, ol_amount, ol_dist_info)
            VALUES (number, d, w, line.position, line.item, line.supplier, NULL, line.quantity, line.quantity * price, stock_row.dist);
        amount := amount + line.quantity * price;
    END LOOP;
    amount := amount * (1 - discount) * (1 + taxes);
END
$$;

CREATE PROCEDURE payment(w integer, warehouses integer) LANGUAGE plpgsql AS $$
DECLARE
    d integer := uniform(1, 10);
    is_remote boolean := uniform(1, 100) > 85 AND warehouses > 1;
    c_w integer := CASE WHEN is_remote THEN another(w, warehouses) ELSE w END;
    c_d integer := CASE WHEN is_remote THEN uniform(1, 10) ELSE d END;
    paid numeric := uniform(100, 500000) / 100.0;
    w_named text;
    d_named text;
    c integer;
BEGIN
    UPDATE warehouse SET w_ytd = w_ytd + paid WHERE w_id = w RETURNING w_name INTO w_named;
    UPDATE district SET d_ytd = d_ytd + paid WHERE d_w_id = w AND d_id = d RETURNING d_name INTO d_named;
    c := a_customer(c_w, c_d);
    UPDATE customer SET c_balance = c_balance - paid, c_ytd_payment = c_ytd_payment + paid, c_payment_cnt = c_payment_cnt + 1,
        c_data = CASE c_credit WHEN 'BC' THEN left(concat_ws(' ', c_id, c_d_id, c_w_id, d, w, paid) || c_data, 500) ELSE c_data END
        WHERE c_w_id = c_w AND c_d_id = c_d AND c_id = c;
    INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
        VALUES (c, c_d, c_w, d, w, CURRENT_TIMESTAMP, paid, w_named || '    ' || d_named);
END
$$;

CREATE PROCEDURE order_status(w integer) LANGUAGE plpgsql AS $$
DECLARE
    d integer := uniform(1, 10);
    c integer := a_customer(w, d);
    balance numeric;
    number integer;
    line record;
BEGIN
    SELECT c_balance INTO balance FROM customer WHERE c_w_id = w AND c_d_id = d AND c_id = c;
    SELECT o_id INTO number FROM orders WHERE o_w_id = w AND o_d_id = d AND o_c_id = c ORDER BY o_id DESC LIMIT 1;
    FOR line IN SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line
        WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id = number
    LOOP
        balance := balance + 0 * line.ol_amount;
    END LOOP;
END
$$;

CREATE PROCEDURE delivery(w integer) LANGUAGE plpgsql AS $$
DECLARE
    carrier integer := uniform(1, 10);
    number integer;
    c integer;
    amount numeric;
BEGIN
    FOR d IN 1..10 LOOP
        DELETE FROM new_order WHERE no_w_id = w AND no_d_id = d AND no_o_id = (
            SELECT no_o_id FROM new_order WHERE no_w_id = w AND no_d_id = d ORDER BY no_o_id LIMIT 1 FOR NO KEY UPDATE)
            RETURNING no_o_id INTO number;
        CONTINUE WHEN NOT FOUND;
        UPDATE orders SET o_carrier_id = carrier WHERE o_w_id = w AND o_d_id = d AND o_id = number RETURNING o_c_id INTO c;
        WITH delivered AS (
            UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id = number RETURNING ol_amount)
        SELECT sum(ol_amount) INTO amount FROM delivered;
        UPDATE customer SET c_balance = c_balance + amount, c_delivery_cnt = c_delivery_cnt + 1 WHERE c_w_id = w AND c_d_id = d AND c_id = c;
    END LOOP;
END
$$;

CREATE PROCEDURE stock_level(w integer) LANGUAGE plpgsql AS $$
DECLARE
    d integer := uniform(1, 10);
    threshold integer := uniform(10, 20);
    next_order integer;
    low integer;
BEGIN
    SELECT d_next_o_id INTO next_order FROM district WHERE d_w_id = w AND d_id = d;
    SELECT count(DISTINCT s_i_id) INTO low FROM order_line JOIN stock ON s_w_id = w AND s_i_id = ol_i_id
        WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id >= next_order - 20 AND ol_o_id < next_order AND s_quantity < threshold;
END
$$;
