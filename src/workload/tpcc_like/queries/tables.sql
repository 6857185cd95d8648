-- The nine tables of TPC-C, each statement for one table. o_client is not of the specification: the client that has made an order.
CREATE TABLE public.item (
    i_id integer NOT NULL, i_im_id integer NOT NULL, i_name varchar(24) NOT NULL, i_price numeric(5, 2) NOT NULL, i_data varchar(50) NOT NULL,
    PRIMARY KEY (i_id));
CREATE TABLE public.warehouse (
    w_id integer NOT NULL, w_name varchar(10) NOT NULL, w_street_1 varchar(20) NOT NULL, w_street_2 varchar(20) NOT NULL, w_city varchar(20) NOT NULL,
    w_state char(2) NOT NULL, w_zip char(9) NOT NULL, w_tax numeric(4, 4) NOT NULL, w_ytd numeric(12, 2) NOT NULL,
    PRIMARY KEY (w_id));
CREATE TABLE public.district (
    d_id smallint NOT NULL, d_w_id integer NOT NULL, d_name varchar(10) NOT NULL, d_street_1 varchar(20) NOT NULL, d_street_2 varchar(20) NOT NULL,
    d_city varchar(20) NOT NULL, d_state char(2) NOT NULL, d_zip char(9) NOT NULL, d_tax numeric(4, 4) NOT NULL, d_ytd numeric(12, 2) NOT NULL,
    d_next_o_id integer NOT NULL,
    PRIMARY KEY (d_w_id, d_id));
CREATE TABLE public.customer (
    c_id integer NOT NULL, c_d_id smallint NOT NULL, c_w_id integer NOT NULL, c_first varchar(16) NOT NULL, c_middle char(2) NOT NULL,
    c_last varchar(16) NOT NULL, c_street_1 varchar(20) NOT NULL, c_street_2 varchar(20) NOT NULL, c_city varchar(20) NOT NULL,
    c_state char(2) NOT NULL, c_zip char(9) NOT NULL, c_phone char(16) NOT NULL, c_since timestamptz NOT NULL, c_credit char(2) NOT NULL,
    c_credit_lim numeric(12, 2) NOT NULL, c_discount numeric(4, 4) NOT NULL, c_balance numeric(12, 2) NOT NULL, c_ytd_payment numeric(12, 2) NOT NULL,
    c_payment_cnt integer NOT NULL, c_delivery_cnt integer NOT NULL, c_data varchar(500) NOT NULL,
    PRIMARY KEY (c_w_id, c_d_id, c_id));
CREATE TABLE public.history (
    h_c_id integer NOT NULL, h_c_d_id smallint NOT NULL, h_c_w_id integer NOT NULL, h_d_id smallint NOT NULL, h_w_id integer NOT NULL,
    h_date timestamptz NOT NULL, h_amount numeric(6, 2) NOT NULL, h_data varchar(24) NOT NULL);
CREATE TABLE public.orders (
    o_id integer NOT NULL, o_d_id smallint NOT NULL, o_w_id integer NOT NULL, o_c_id integer NOT NULL, o_entry_d timestamptz NOT NULL,
    o_carrier_id smallint, o_ol_cnt smallint NOT NULL, o_all_local smallint NOT NULL, o_client integer,
    PRIMARY KEY (o_w_id, o_d_id, o_id));
CREATE TABLE public.new_order (
    no_o_id integer NOT NULL, no_d_id smallint NOT NULL, no_w_id integer NOT NULL,
    PRIMARY KEY (no_w_id, no_d_id, no_o_id));
CREATE TABLE public.order_line (
    ol_o_id integer NOT NULL, ol_d_id smallint NOT NULL, ol_w_id integer NOT NULL, ol_number smallint NOT NULL, ol_i_id integer NOT NULL,
    ol_supply_w_id integer NOT NULL, ol_delivery_d timestamptz, ol_quantity smallint NOT NULL, ol_amount numeric(6, 2) NOT NULL,
    ol_dist_info char(24) NOT NULL,
    PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number));
CREATE TABLE public.stock (
    s_i_id integer NOT NULL, s_w_id integer NOT NULL, s_quantity smallint NOT NULL, s_dist_01 char(24) NOT NULL, s_dist_02 char(24) NOT NULL,
    s_dist_03 char(24) NOT NULL, s_dist_04 char(24) NOT NULL, s_dist_05 char(24) NOT NULL, s_dist_06 char(24) NOT NULL, s_dist_07 char(24) NOT NULL,
    s_dist_08 char(24) NOT NULL, s_dist_09 char(24) NOT NULL, s_dist_10 char(24) NOT NULL, s_ytd integer NOT NULL, s_order_cnt integer NOT NULL,
    s_remote_cnt integer NOT NULL, s_data varchar(50) NOT NULL,
    PRIMARY KEY (s_w_id, s_i_id));
-- No statement looks for these texts, and ANALYZE need not sort them. ANALYZE with a list of columns would not tell autovacuum that it is done.
ALTER TABLE public.item ALTER i_name SET STATISTICS 0, ALTER i_data SET STATISTICS 0;
ALTER TABLE public.customer
    ALTER c_middle SET STATISTICS 0, ALTER c_street_1 SET STATISTICS 0, ALTER c_street_2 SET STATISTICS 0, ALTER c_city SET STATISTICS 0,
    ALTER c_state SET STATISTICS 0, ALTER c_zip SET STATISTICS 0, ALTER c_phone SET STATISTICS 0, ALTER c_credit SET STATISTICS 0,
    ALTER c_data SET STATISTICS 0;
ALTER TABLE public.history ALTER h_data SET STATISTICS 0;
ALTER TABLE public.order_line ALTER ol_dist_info SET STATISTICS 0;
ALTER TABLE public.stock
    ALTER s_dist_01 SET STATISTICS 0, ALTER s_dist_02 SET STATISTICS 0, ALTER s_dist_03 SET STATISTICS 0, ALTER s_dist_04 SET STATISTICS 0,
    ALTER s_dist_05 SET STATISTICS 0, ALTER s_dist_06 SET STATISTICS 0, ALTER s_dist_07 SET STATISTICS 0, ALTER s_dist_08 SET STATISTICS 0,
    ALTER s_dist_09 SET STATISTICS 0, ALTER s_dist_10 SET STATISTICS 0, ALTER s_data SET STATISTICS 0;
